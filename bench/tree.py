#!/usr/bin/env python3
"""Verifies packages over a directory of many files, beside b3sum and sha256sum over the same files.

Every round runs every job once. A job is a whole process, from start to exit; the files are in the
cache of the system. b3sum and sha256sum get all paths from `find`, b3sum with its own threads,
sha256sum as one process a processor. Nothing is unlocked: verifying needs a public passport only.
The bar: verifying with the tree digest takes at most as long as sha256sum, and the memory of
verifying does not grow with the files' length.

usage: bench/tree.py [--files N] [--size MIB] [--rounds N] [--dir DIR] [--sealstone FILE]
                     [--b3sum FILE]
"""

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGESTS = ("sha3-256", "skein-tree")
# Peer → the least ratio of its time to that of verifying with the tree digest.
BARS = {"sha256sum": 1.0}


def arguments():
    parser = argparse.ArgumentParser(
        description="verifying a directory against b3sum and sha256sum"
    )
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument(
        "--size", type=int, default=10_240, metavar="MIB", help="of all files together"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--dir",
        default=None,
        help="a directory with room for the files [default: the system's temporary one]",
    )
    parser.add_argument("--sealstone", default=str(ROOT / "target" / "release" / "sealstone"))
    parser.add_argument("--b3sum", default=str(ROOT / ".tools" / "bin" / "b3sum"))
    return parser.parse_args()


def lengths(files, size):
    """Most files are small, few are large, as in source trees. They are always the same."""
    chance = random.Random(1)
    weights = [chance.paretovariate(1.2) for _ in range(files)]
    scale = (size << 20) / sum(weights)
    return [int(weight * scale) for weight in weights]


def make_tree(root, files, size):
    chunk = os.urandom(1 << 20)
    for number, length in enumerate(lengths(files, size)):
        directory = root / f"{number // 10_000:02}" / f"{number // 100 % 100:02}"
        directory.mkdir(parents=True, exist_ok=True)
        with open(directory / f"{number:06}.bin", "wb") as file:
            file.write(number.to_bytes(8, "big")[: min(8, length)])
            left = max(0, length - 8)
            while left:
                left -= file.write(chunk[: min(left, len(chunk))])


def run(command):
    """One process and its children: wall seconds, peak memory of the process in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(
            f"{' '.join(command)}: exit {process.returncode}\n{error.decode(errors='replace')}"
        )
    return wall, usage.ru_maxrss / 1024


class Bench:
    def __init__(self, options, at):
        self.options = options
        self.at = at
        self.samples = {}
        for tool in (options.sealstone, options.b3sum):
            if not os.access(tool, os.X_OK):
                sys.exit(f"{tool} is missing: run `make bench`, which installs and builds it")
        (at / "passphrase").write_text("benchmark passphrase\n")
        secret = ["--passphrase-file", str(at / "passphrase")]
        run(
            [
                options.sealstone,
                "passport",
                "new",
                "-o",
                str(at / "signer.passport"),
                "--label",
                "signer",
                "--profile",
                "interactive",
                *secret,
            ]
        )
        self.tree = at / "tree"
        make_tree(self.tree, options.files, options.size)
        self.one = at / "one"
        self.one.mkdir()
        with open(self.one / "large.bin", "wb") as file:
            file.truncate(1 << 30)
        for directory in (self.tree, self.one):
            for digest in DIGESTS:
                out = f"{directory}.{digest}.package"
                signer = ["--from", str(at / "signer.passport"), *secret]
                wall, _ = run(
                    [
                        options.sealstone,
                        "sign",
                        "--no-times",
                        "--digest",
                        digest,
                        *signer,
                        "-o",
                        out,
                        str(directory),
                    ]
                )
                if directory == self.tree:
                    print(
                        f"sign, {digest}: {wall:.1f} s, "
                        f"package of {os.path.getsize(out) >> 20} MiB",
                        flush=True,
                    )

    def verify(self, directory, digest):
        trust = ["--trust-dir", str(self.at / "trust")]
        signer = ["--signer", str(self.at / "signer.pub"), "--root", str(directory)]
        return [
            self.options.sealstone,
            *trust,
            "verify",
            "--no-progress",
            *signer,
            f"{directory}.{digest}.package",
        ]

    def jobs(self):
        processors = os.cpu_count()
        find = f"find {self.tree} -type f -print0 | xargs -0"
        jobs = {f"verify, {digest}": self.verify(self.tree, digest) for digest in DIGESTS}
        jobs["b3sum"] = ["sh", "-c", f"{find} {self.options.b3sum} --"]
        jobs["sha256sum"] = ["sh", "-c", f"{find} -P {processors} -n 500 sha256sum --"]
        return jobs

    def round(self):
        for name, command in self.jobs().items():
            self.samples.setdefault(name, []).append(run(command))

    def report(self):
        """Prints the table; returns whether every bar is reached."""
        size = self.options.size / 1024
        print(f"\n{'job':<22} {'minimum s':>10} {'median s':>10} {'GiB/s':>8} {'MiB':>8}")
        walls = {}
        for name, samples in self.samples.items():
            walls[name] = [wall for wall, _ in samples]
            memory = max(memory for _, memory in samples)
            print(
                f"{name:<22} {min(walls[name]):>10.2f} {statistics.median(walls[name]):>10.2f} "
                f"{size / min(walls[name]):>8.2f} {memory:>8.0f}"
            )
        reached = True
        print(f"\n{'time of the peer as a multiple of ours':<44} {'minima':>8} {'medians':>8}")
        for digest in DIGESTS:
            ours = walls[f"verify, {digest}"]
            for peer in ("b3sum", "sha256sum"):
                minima = min(walls[peer]) / min(ours)
                medians = statistics.median(walls[peer]) / statistics.median(ours)
                bar = BARS.get(peer) if digest == "skein-tree" else None
                verdict = ""
                if bar is not None:
                    held = max(minima, medians) >= bar
                    reached &= held
                    verdict = f"  at least {bar}: {'reached' if held else 'missed'}"
                print(f"verify, {digest}: {peer:<22} {minima:>8.2f} {medians:>8.2f}{verdict}")
        for digest in DIGESTS:
            wall, memory = run(self.verify(self.one, digest))
            print(f"one file of 1 GiB, {digest}: {wall:.2f} s, {memory:.0f} MiB of memory")
        return reached


def main():
    options = arguments()
    at = Path(tempfile.mkdtemp(prefix="sealstone-tree-", dir=options.dir))
    try:
        bench = Bench(options, at)
        for _ in range(options.rounds):
            bench.round()
        reached = bench.report()
    finally:
        shutil.rmtree(at)
    sys.exit(0 if reached else 1)


if __name__ == "__main__":
    main()
