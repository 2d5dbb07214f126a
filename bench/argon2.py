#!/usr/bin/env python3
"""Hashes passwords with Argon2id by Sealstone and its peers, in turn, and prints times and ratios.

Every round runs every implementation once, each in a process of its own, so that a machine whose speed drifts treats all alike and memory
is as new as a command finds it. What counts is the call alone: getting memory, page faults and wiping included, the start of the process
not. `kept` calls twice and measures the second call, in memory that is already there: how a server has it.

usage: bench/argon2.py [--rounds N] [--job NAME]… [--who NAME]… [--pause SECONDS] [--bench PROGRAM] [--python DIR] [--json FILE]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Name, memory in KiB, passes, lanes, threads, and how the peers are run.
JOBS = {
    "1 GiB": (1 << 20, 4, 1, 2),
    "64 MiB": (64 << 10, 3, 1, 2),
    "19 MiB": (19 << 10, 2, 1, 2),
    "1 GiB, p=2": (1 << 20, 4, 2, 2),
    "64 MiB, p=4, one thread": (64 << 10, 3, 4, 1),
    "64 MiB, p=4, two threads": (64 << 10, 3, 4, 2),
    "in cache": (512, 1000, 1, 1),
}

ONE_LANE = ["sealstone", "libsodium", "argon2-rust", "phc", "phc-huge", "rustcrypto", "pynacl", "argon2-cffi", "sealstone-kept", "argon2-rust-kept"]
LANES = ["sealstone", "argon2-rust", "phc", "phc-huge", "sealstone-kept", "argon2-rust-kept"]

# What the project promises: job, who, peer → the least ratio of times.
BARS = [
    ("1 GiB", "sealstone", "libsodium", 1.75),
    ("1 GiB", "sealstone", "argon2-rust", 1.0),
    ("1 GiB", "sealstone-kept", "argon2-rust-kept", 1.0),
    ("64 MiB", "sealstone", "libsodium", 2.0),
    ("19 MiB", "sealstone", "libsodium", 2.2),
    ("64 MiB, p=4, one thread", "sealstone", "phc-huge", 1.8),
    ("64 MiB, p=4, two threads", "sealstone", "phc-huge", 1.8),
]
# Two lanes on two threads against one lane.
LANES_BAR = ("1 GiB, p=2", "1 GiB", 1.6)
# In cache, at most so many times as long as the quickest.
CACHE_BAR = ("in cache", 1.1)


def arguments():
    parser = argparse.ArgumentParser(description="Argon2id against libsodium, argon2-rust, the reference and others")
    parser.add_argument("--rounds", type=int, default=15, help="of the small jobs; those of 1 GiB run a third as often")
    parser.add_argument("--job", action="append", choices=JOBS, help="only this one")
    parser.add_argument("--who", action="append", choices=ONE_LANE, help="only this one")
    parser.add_argument("--pause", type=float, default=0, metavar="SECONDS", help="before every process: the system finds time to take free memory back")
    parser.add_argument("--bench", default=str(ROOT / "target" / "release" / "bench-argon2"))
    parser.add_argument("--python", default=str(ROOT / ".tools" / "bench"), help="where scripts/setup bench put the peers")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


class Bench:
    def __init__(self, options):
        self.options = options
        # Isolated: `import argon2` must not find this file.
        self.peer = [str(Path(options.python) / "bin" / "python"), "-I", str(ROOT / "bench" / "argon2_peers.py")]
        for tool in (options.bench, self.peer[0]):
            if not os.access(tool, os.X_OK):
                sys.exit(f"{tool} is missing: run `make bench`, which installs and builds it")
        self.samples = {}

    def command(self, who, job):
        program = [self.options.bench] if who.split("-kept")[0] in ("sealstone", "argon2-rust", "rustcrypto", "libsodium") else self.peer
        return [*program, who, *map(str, JOBS[job])]

    def run(self, who, job):
        """One process: milliseconds of the call, CPU seconds of the process in user and system mode, the hash."""
        time.sleep(self.options.pause)
        process = subprocess.Popen(self.command(who, job), stdout=subprocess.PIPE, text=True)
        answer = process.stdout.read().split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{who}: exit {process.returncode}")
        return (int(answer[0]) / 1e6, usage.ru_utime, usage.ru_stime), answer[1]

    def measure(self, job):
        whose = ONE_LANE if JOBS[job][2] == 1 else LANES
        if job == "in cache":
            whose = ["sealstone", "argon2-rust", "phc", "libsodium"]
        whose = [who for who in whose if who in (self.options.who or whose)]
        rounds = max(3, self.options.rounds // 3) if JOBS[job][0] >= 1 << 20 else self.options.rounds
        for number in range(rounds):
            print(f"\r{job}: round {number + 1} of {rounds}  ", end="", file=sys.stderr, flush=True)
            hashes = set()
            for who in whose:
                sample, tag = self.run(who, job)
                self.samples.setdefault((job, who), []).append(sample)
                hashes.add(tag)
            if len(hashes) != 1:
                sys.exit(f"{job}: not everybody gets the same hash")
        print(file=sys.stderr)

    def times(self, job, who):
        return [sample[0] for sample in self.samples[job, who]]

    def report(self, job):
        memory, passes, lanes, threads = JOBS[job]
        print(f"\n{job}: {memory} KiB, t={passes}, p={lanes}, up to {threads} threads; milliseconds")
        print(f"{'':<18}{'min':>9}{'median':>9}{'max':>9}{'user s':>8}{'sys s':>8}{'ns/block':>10}")
        for (name, who), samples in self.samples.items():
            if name == job:
                times = [sample[0] for sample in samples]
                user, system = (statistics.median(sample[i] for sample in samples) for i in (1, 2))
                block = min(times) * 1e6 / (memory * passes)
                print(f"{who:<18}{min(times):9.2f}{statistics.median(times):9.2f}{max(times):9.2f}{user:8.3f}{system:8.3f}{block:10.1f}")

    def bars(self):
        missed = 0
        print("\ntimes of the peer as a multiple of ours: median of the rounds' ratios (and of minima)")
        rows = [(f"{job}: {who} vs {peer}", self.times(job, who), self.times(job, peer), bar) for job, who, peer, bar in BARS if {(job, who), (job, peer)} <= self.samples.keys()]
        two, one, bar = LANES_BAR
        if (two, "sealstone") in self.samples and (one, "sealstone") in self.samples:
            rows.append((f"{two} vs {one}", self.times(two, "sealstone"), self.times(one, "sealstone"), bar))
        cache, bar = CACHE_BAR
        if (cache, "sealstone") in self.samples:
            everybody = [self.times(job, who) for job, who in self.samples if job == cache]
            rows.append(("in cache vs the quickest", self.times(cache, "sealstone"), min(everybody, key=statistics.median), 1 / bar))
        results = []
        for name, ours, theirs, bar in rows:
            ratio = statistics.median(t / o for o, t in zip(ours, theirs))
            best = min(theirs) / min(ours)
            missed += ratio < bar
            results.append(dict(name=name, ratio=ratio, ratio_of_minima=best, bar=bar, reached=ratio >= bar))
            print(f"{name:<52}{ratio:6.2f} ({best:.2f})   bar: {bar:.2f}   {'reached' if ratio >= bar else 'MISSED'}")
        return missed, results


def main():
    options = arguments()
    bench = Bench(options)
    jobs = options.job or list(JOBS)
    for job in jobs:
        bench.measure(job)
    for job in jobs:
        bench.report(job)
    missed, results = bench.bars()
    if options.json:
        samples = [dict(job=job, who=who, ms_user_sys=samples) for (job, who), samples in bench.samples.items()]
        Path(options.json).write_text(json.dumps(dict(samples=samples, bars=results), indent=1))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
