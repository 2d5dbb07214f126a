#!/usr/bin/env python3
"""Seals and opens one file with sealstone and its peers, in turn, and prints times and ratios.

Every round runs every job once, so that a machine whose speed drifts treats all alike. A job is a
whole process, from start to exit, reading and writing a memory file system. Sealstone unlocks a
passport in some jobs: the time of the same job on an empty file (start-up, Argon2id, header) is
measured in every round too, and taken off. The peers have no such step that is worth taking off.

usage: bench/files.py [--size MIB] [--rounds N] [--dir DIR] [--bin DIR] [--json FILE]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The promises of the project: job, peer, direction → the least ratio of throughputs.
BARS = {
    ("unsigned", "age"): 2.0,
    ("unsigned", "rage"): 3.0,
    ("signed", "age"): 1.5,
    ("signed", "rage"): 2.0,
}
# The limit of the ratio of the unsigned second suite to cp.
CP_BAR = 1.3


def arguments():
    parser = argparse.ArgumentParser(description="sealing and opening against age, rage and cp")
    parser.add_argument("--size", type=int, default=1024, metavar="MIB")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--dir", default="/dev/shm", help="a directory on tmpfs with room for three times the size"
    )
    parser.add_argument(
        "--bin", default=str(ROOT / ".tools" / "bin"), help="where age and rage are"
    )
    parser.add_argument("--sealstone", default=str(ROOT / "target" / "release" / "sealstone"))
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


def run(command):
    """One process: wall seconds, CPU seconds, peak memory in KiB."""
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
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


class Bench:
    def __init__(self, options, directory):
        self.options = options
        self.at = directory
        self.sealstone = options.sealstone
        self.age = str(Path(options.bin) / "age")
        self.rage = str(Path(options.bin) / "rage")
        for tool in (self.sealstone, self.age, self.rage):
            if not os.access(tool, os.X_OK):
                sys.exit(f"{tool} is missing: run `make bench`, which installs and builds it")
        self.samples = {}
        self.prepare()

    def path(self, name):
        return str(self.at / name)

    def prepare(self):
        (self.at / "passphrase").write_text("benchmark passphrase\n")
        for name in ("alice", "bob"):
            run(
                [
                    self.sealstone,
                    "passport",
                    "new",
                    "-o",
                    self.path(f"{name}.passport"),
                    "--label",
                    name,
                    "--profile",
                    "interactive",
                ]
                + self.secret()
            )
        run(
            [
                self.sealstone,
                "--trust-dir",
                self.path("trust"),
                "trust",
                "approve",
                "--yes",
                self.path("alice.pub"),
            ]
        )
        subprocess.run(
            [str(Path(self.options.bin) / "age-keygen"), "-pq", "-o", self.path("age.key")],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        subprocess.run(
            [str(Path(self.options.bin) / "rage-keygen"), "-o", self.path("rage.key")],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        self.age_to = self.public_key("age.key")
        self.rage_to = self.public_key("rage.key")
        (self.at / "empty").touch()
        with open(self.at / "data", "wb") as data:
            for _ in range(self.options.size):
                data.write(os.urandom(1 << 20))

    def public_key(self, name):
        for line in (self.at / name).read_text().splitlines():
            if line.startswith("# public key: "):
                return line.removeprefix("# public key: ")
        sys.exit(f"no public key in {name}")

    def secret(self):
        return ["--passphrase-file", self.path("passphrase")]

    def seal(self, source, target, *how):
        return [
            self.sealstone,
            "seal",
            "-r",
            self.path("bob.pub"),
            "--force",
            "-o",
            self.path(target),
            *how,
            self.path(source),
        ]

    def open(self, source, target):
        return [
            self.sealstone,
            "--trust-dir",
            self.path("trust"),
            "open",
            "-i",
            self.path("bob.passport"),
            *self.secret(),
            "--force",
            "-o",
            self.path(target),
            self.path(source),
        ]

    def jobs(self):
        """Name → (seal, open), each a function from input and output name to a command."""
        signed = ["--from", self.path("alice.passport"), *self.secret()]
        ours = {
            "unsigned": ["--unsigned"],
            "signed": signed,
            "unsigned aes256gcm": ["--unsigned", "--suite", "aes256gcm"],
            "signed aes256gcm": [*signed, "--suite", "aes256gcm"],
        }
        jobs = {
            name: (lambda s, t, how=how: self.seal(s, t, *how), self.open)
            for name, how in ours.items()
        }
        jobs["age"] = (
            lambda s, t: [self.age, "-r", self.age_to, "-o", self.path(t), self.path(s)],
            lambda s, t: [
                self.age,
                "-d",
                "-i",
                self.path("age.key"),
                "-o",
                self.path(t),
                self.path(s),
            ],
        )
        jobs["rage"] = (
            lambda s, t: [self.rage, "-r", self.rage_to, "-o", self.path(t), self.path(s)],
            lambda s, t: [
                self.rage,
                "-d",
                "-i",
                self.path("rage.key"),
                "-o",
                self.path(t),
                self.path(s),
            ],
        )
        copy = lambda s, t: ["cp", self.path(s), self.path(t)]
        jobs["cp"] = (copy, copy)
        return jobs

    def round(self, keep):
        for name, (seal, open_) in self.jobs().items():
            ours = name not in ("age", "rage", "cp")
            for source, label in (
                [("empty", "empty"), ("data", "data")] if ours else [("data", "data")]
            ):
                self.discard("sealed", "opened")
                sealed = run(seal(source, "sealed"))
                opened = run(open_("sealed", "opened"))
                if keep:
                    self.samples.setdefault((name, "seal", label), []).append(sealed)
                    self.samples.setdefault((name, "open", label), []).append(opened)
            if (
                not keep
                and subprocess.run(["cmp", self.path("data"), self.path("opened")]).returncode != 0
            ):
                sys.exit(f"{name}: what was opened is not what was sealed")
        self.discard("sealed", "opened")

    def discard(self, *names):
        for name in names:
            (self.at / name).unlink(missing_ok=True)

    def seconds(self, name, direction):
        """Wall seconds of every round, without what an empty file takes."""
        walls = [sample[0] for sample in self.samples[name, direction, "data"]]
        empty = self.samples.get((name, direction, "empty"))
        return [wall - start[0] for wall, start in zip(walls, empty)] if empty else walls

    def report(self):
        size = self.options.size / 1024
        rows = []
        print(
            f"\n{size:g} GiB, {self.options.rounds} rounds, {os.cpu_count()} processors; "
            "seconds without start-up and key derivation"
        )
        print(f"{'job':<20}{'':6}{'min':>8}{'median':>8}{'GiB/s':>8}{'CPU s':>8}{'peak MiB':>10}")
        for name in self.jobs():
            for direction in ("seal", "open"):
                seconds = self.seconds(name, direction)
                samples = self.samples[name, direction, "data"]
                cpu = statistics.median(sample[1] for sample in samples)
                memory = max(sample[2] for sample in samples) / 1024
                row = dict(
                    job=name,
                    direction=direction,
                    min=min(seconds),
                    median=statistics.median(seconds),
                    cpu=cpu,
                    peak_mib=memory,
                )
                rows.append(row)
                print(
                    f"{name:<20}{direction:6}{row['min']:8.3f}{row['median']:8.3f}"
                    f"{size / row['median']:8.2f}{cpu:8.2f}{memory:10.1f}"
                )
        print(
            "\nthroughput as a multiple of the peer's: median of the rounds' ratios (and of minima)"
        )
        missed = self.ratios(rows)
        if self.options.json:
            Path(self.options.json).write_text(json.dumps(rows, indent=1))
        return missed

    def ratios(self, rows):
        missed = 0
        bars = [(ours, peer, 1, bar) for (ours, peer), bar in BARS.items()]
        bars += [("unsigned aes256gcm", "cp", -1, CP_BAR)]
        for ours, peer, sense, bar in bars:
            for direction in ("seal", "open"):
                mine, theirs = self.seconds(ours, direction), self.seconds(peer, direction)
                ratio = statistics.median((t / m) ** sense for m, t in zip(mine, theirs))
                best = (min(theirs) / min(mine)) ** sense
                good = ratio >= bar if sense > 0 else ratio <= bar
                missed += not good
                kind = "at least" if sense > 0 else "time, at most"
                print(
                    f"{ours:<20}{direction:6}{'vs ' + peer:<10}{ratio:6.2f} ({best:.2f})   "
                    f"bar: {kind} {bar}   {'reached' if good else 'MISSED'}"
                )
                rows.append(
                    dict(
                        job=ours, direction=direction, peer=peer, ratio=ratio, bar=bar, reached=good
                    )
                )
        return missed


def main():
    options = arguments()
    need = 3 * options.size << 20
    if shutil.disk_usage(options.dir).free < need:
        sys.exit(f"{options.dir} has not {need >> 20} MiB free: give --dir or a smaller --size")
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="sealstone-bench-") as directory:
        bench = Bench(options, Path(directory))
        bench.round(keep=False)
        for number in range(options.rounds):
            print(f"\rround {number + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
            bench.round(keep=True)
        print(file=sys.stderr)
        sys.exit(1 if bench.report() else 0)


if __name__ == "__main__":
    main()
