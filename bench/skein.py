#!/usr/bin/env python3
"""Hashes with Skein by Sealstone and its peers, in turn, and prints times and ratios.

Every round runs every job once, so that a machine whose speed drifts treats all alike. Kernels (one
message in memory) are measured in two processes that live for the whole run: bench-skein (Sealstone
and RustCrypto) and Python (pyskein, the designers' C code). Commands are whole processes over one
file in a memory file system, which is what the page cache is.

With --markdown it prints the tables of bench/results/skein.md and bench/README.md, which are
replaced by those of one run.

usage: bench/skein.py [--rounds N] [--size MIB] [--dir DIR] [--bench PROGRAM] [--sealstone PROGRAM]
                      [--json FILE] [--markdown]
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SMALL, MIDDLE, LARGE = 32 << 10, 1 << 20, 64 << 20
# Name, job of bench-skein, bytes.
KERNELS = {
    f"{who}-{state}": (f"{job}-{state}", SMALL)
    for who, job in (("sealstone", "skein"), ("rustcrypto", "rustcrypto"))
    for state in (256, 512, 1024)
}
KERNELS |= {
    f"{who}threefish-{state} {way}": (f"{who}threefish-{state}-{way}", SMALL)
    for state in (256, 512, 1024)
    for way in ("encrypt", "decrypt")
    for who in ("", "rustcrypto-")
}
KERNELS["sealstone-512 1 MiB"] = ("skein-512", MIDDLE)
KERNELS |= {
    f"tree {level}, {threads} thread{'s' * (threads > 1)}": (f"{level}/{threads}", LARGE)
    for level in ("avx512", "avx2", "neon", "portable")
    for threads in (1, 2)
}

# The level that is the best of AVX-512 is one of these two.
KERNELS |= {
    "tree avx512, 8 lanes": ("avx512(/1", LARGE),
    "tree avx512, 8 + 1 lanes": ("avx512plus/1", LARGE),
}

# The same for pyskein, which is given 1 MiB.
PYSKEIN = (
    "import sys,time,skein\nm=bytes(i%251 for i in range(1<<20))\n"
    "for line in sys.stdin:\n"
    " h=getattr(skein,'skein'+line.strip());t=time.perf_counter();h(m).digest();"
    "print((time.perf_counter()-t)*1e9/len(m),flush=True)"
)

# The promises of the project: job, peer → the least ratio of times.
BARS = [
    ("sealstone-512", "rustcrypto-512", 3.1),
    ("sealstone-512 1 MiB", "pyskein-512", 1.5),
    ("sealstone-256", "rustcrypto-256", 2.5),
    ("sealstone-1024", "rustcrypto-1024", 2.5),
    ("tree avx512, 1 thread", "rustcrypto-512", 10),
    ("tree avx2, 1 thread", "rustcrypto-512", 4.5),
    ("tree avx512, 2 threads", "tree avx512, 1 thread", 1.8),
    ("sealstone hash", "b3sum", 0.8),
    ("sealstone hash", "sha256sum", 8),
]


def arguments():
    parser = argparse.ArgumentParser(
        description="Skein against RustCrypto, pyskein, b3sum and sha256sum"
    )
    parser.add_argument(
        "--rounds", type=int, default=15, help="of kernels; commands run a third as often"
    )
    parser.add_argument(
        "--size", type=int, default=4096, metavar="MIB", help="of the file that commands hash"
    )
    parser.add_argument("--dir", default="/dev/shm", help="a directory on tmpfs with room for it")
    parser.add_argument("--bin", default=str(ROOT / ".tools" / "bin"), help="where b3sum is")
    parser.add_argument(
        "--python",
        default=str(ROOT / ".tools" / "skein" / "bin" / "python"),
        help="one that has pyskein",
    )
    parser.add_argument("--bench", default=str(ROOT / "target" / "release" / "bench-skein"))
    parser.add_argument("--sealstone", default=str(ROOT / "target" / "release" / "sealstone"))
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument(
        "--markdown", action="store_true", help="print tables for bench/results/skein.md"
    )
    return parser.parse_args()


class Worker:
    """A process that answers each line with a time."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line):
        """Nanoseconds a byte; none if this machine cannot do it."""
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"no answer to {line}")
        return None if answer == "-" else float(answer)


def kernels(options):
    """Name → a function that measures it once."""
    ours, theirs = Worker([options.bench]), Worker([options.python, "-c", PYSKEIN])
    jobs = {
        name: (lambda line=f"{job} {size}": ours.ask(line)) for name, (job, size) in KERNELS.items()
    }
    jobs |= {
        f"pyskein-{state}": (lambda state=state: theirs.ask(state)) for state in (256, 512, 1024)
    }
    return {name: job for name, job in jobs.items() if job() is not None}


def commands(options, file):
    b3sum = str(Path(options.bin) / "b3sum")
    jobs = {
        "sealstone hash": [options.sealstone, "hash", file],
        "b3sum": [b3sum, "--num-threads", "2", file],
        "sha256sum": ["sha256sum", file],
    }
    return {
        name: (lambda command=command: run(command) * 1e9 / (options.size << 20))
        for name, command in jobs.items()
    }


def run(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(jobs, rounds):
    samples = {name: [] for name in jobs}
    for number in range(rounds):
        print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
        for name, job in jobs.items():
            samples[name].append(job())
    print(file=sys.stderr)
    return samples


def ratios(samples):
    """Job, peer, median of the rounds' ratios, ratio of the minima, bar, for this machine."""
    for job, peer, bar in BARS:
        if job in samples:
            ratio = statistics.median(
                theirs / mine for mine, theirs in zip(samples[job], samples[peer])
            )
            yield job, peer, ratio, min(samples[peer]) / min(samples[job]), bar


def report(samples):
    print(f"\n{processor()}; nanoseconds a byte\n{'job':<28}{'min':>8}{'median':>8}")
    for name, values in samples.items():
        print(f"{name:<28}{min(values):8.3f}{statistics.median(values):8.3f}")
    print("\ntimes as fast as the peer: median of the rounds' ratios (and of minima)")
    for job, peer, ratio, best, bar in ratios(samples):
        print(
            f"{job:<28}vs {peer:<24}{ratio:6.2f} ({best:.2f})   "
            f"bar: at least {bar}   {'reached' if ratio >= bar else 'MISSED'}"
        )


def report_markdown(samples):
    print(f"{processor()}. Nanoseconds a byte:\n\n| job | min | median |\n|---|---|---|")
    for name, values in samples.items():
        print(f"| {name} | {min(values):.3f} | {statistics.median(values):.3f} |")
    print(
        "\nTimes as fast as the peer:\n\n"
        "| job | peer | median of the rounds | of the minima | to reach | |\n"
        "|---|---|---|---|---|---|"
    )
    for job, peer, ratio, best, bar in ratios(samples):
        print(
            f"| {job} | {peer} | {ratio:.2f} | {best:.2f} | "
            f"{bar} | {'reached' if ratio >= bar else 'missed'} |"
        )


def processor():
    """The system's name of the processor. Virtual machines often give family and model only."""
    info = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        info.setdefault(key.strip(), value.strip())
    number = ", ".join(f"{key} {info[key]}" for key in ("cpu family", "model") if key in info)
    return f"{os.cpu_count()} × {info.get('model name', platform.machine())} ({number})"


def main():
    options = arguments()
    if shutil.disk_usage(options.dir).free < (options.size + 64) << 20:
        sys.exit(f"{options.dir} has not {options.size} MiB free: give --dir or a smaller --size")
    samples = measure(kernels(options), options.rounds)
    with tempfile.TemporaryDirectory(dir=options.dir, prefix="sealstone-bench-") as directory:
        file = str(Path(directory) / "data")
        with open(file, "wb") as data:
            for _ in range(options.size):
                data.write(os.urandom(1 << 20))
        samples |= measure(commands(options, file), (options.rounds + 2) // 3)
    if options.json:
        Path(options.json).write_text(json.dumps(samples, indent=1))
    (report_markdown if options.markdown else report)(samples)
    sys.exit(any(ratio < bar for *_, ratio, _, bar in ratios(samples)))


if __name__ == "__main__":
    main()
