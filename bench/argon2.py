#!/usr/bin/env python3
"""Hashes passwords with Argon2id by Sealstone and its peers, in turn, and prints times and ratios.

Every round runs every implementation once, each in a process of its own, so that a machine whose
speed drifts treats all alike and memory is as new as in a command. The measurement covers the call
alone: allocation, page faults and wiping, not the start of the process. `kept` calls twice and
measures the second call, in memory that is already mapped, as in a server. `walk` is no hash. It
reads and writes the memory of one hash, in the same order, without computing. It is the lower limit
for every implementation.

usage: bench/argon2.py [--rounds N] [--job NAME]… [--who NAME]… [--pause SECONDS]
                       [--bench PROGRAM] [--python DIR]
                       [--json FILE] [--with FILE]… [--readme]

`--readme` puts the tables into bench/results/argon2.md, and the ratios into bench/README.md. If a
machine is quiet for minutes only, measure jobs one by one with --json and put them together:
`bench/argon2.py --with a.json --with b.json --readme` measures nothing itself.
"""

import argparse
import json
import os
import platform
import re
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
    # The least memory that is worth a second thread (WORTH_A_THREAD).
    "8 MiB, p=2, one thread": (8 << 10, 3, 2, 1),
    "8 MiB, p=2, two threads": (8 << 10, 3, 2, 2),
    "in cache": (512, 1000, 1, 1),
}

ONE_LANE = [
    "sealstone",
    "libsodium",
    "argon2-rust",
    "phc",
    "phc-huge",
    "rustcrypto",
    "pynacl",
    "argon2-cffi",
    "sealstone-kept",
    "argon2-rust-kept",
    "walk",
    "pages",
]
LANES = [
    "sealstone",
    "argon2-rust",
    "phc",
    "phc-huge",
    "sealstone-kept",
    "argon2-rust-kept",
    "walk",
    "pages",
]

# The promises of the project: job, who, peer → the least ratio of times.
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
# In cache, the limit of the ratio to the quickest.
CACHE_BAR = ("in cache", 1.1)


def arguments():
    parser = argparse.ArgumentParser(
        description="Argon2id against libsodium, argon2-rust, the reference and others"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=15,
        help="of the small jobs; those of 1 GiB run a third as often",
    )
    parser.add_argument("--job", action="append", choices=JOBS, help="only this one")
    parser.add_argument("--who", action="append", choices=ONE_LANE, help="only this one")
    parser.add_argument(
        "--pause",
        type=float,
        default=0,
        metavar="SECONDS",
        help="before every process: the system finds time to take free memory back",
    )
    parser.add_argument("--bench", default=str(ROOT / "target" / "release" / "bench-argon2"))
    parser.add_argument(
        "--python",
        default=str(ROOT / ".tools" / "bench"),
        help="where scripts/setup bench put the peers",
    )
    parser.add_argument("--json", metavar="FILE", help="write all samples")
    parser.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="FILE",
        help="samples that --json wrote on this machine, in place of new ones",
    )
    parser.add_argument(
        "--readme",
        action="store_true",
        help="put the tables into bench/results/argon2.md and bench/README.md",
    )
    return parser.parse_args()


def machine():
    """The processor by its name and by what tells it from others of that name."""
    fields = (
        dict(re.findall(r"^([^:\t]+)\t*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M))
        if Path("/proc/cpuinfo").exists()
        else {}
    )
    name, kind = (
        fields.get("model name", platform.machine()),
        (fields.get("cpu family"), fields.get("model")),
    )
    return f"{os.cpu_count()} × {name}" + (
        f", family {kind[0]}, model {kind[1]}" if all(kind) else ""
    )


class Bench:
    def __init__(self, options):
        self.options = options
        # Isolated: `import argon2` must not find this file.
        self.peer = [
            str(Path(options.python) / "bin" / "python"),
            "-I",
            str(ROOT / "bench" / "argon2_peers.py"),
        ]
        self.samples = {}
        for file in options.others:
            self.load(file)

    def load(self, file):
        read = json.loads(Path(file).read_text())
        if read["machine"] != machine():
            sys.exit(f"{file} is from another machine: {read['machine']}")
        for entry in read["samples"]:
            if (entry["job"], entry["who"]) in self.samples:
                sys.exit(f"{file}: {entry['job']} was measured twice, in different runs")
            self.samples[entry["job"], entry["who"]] = entry["ms_user_sys"]

    def need_tools(self):
        for tool in (self.options.bench, self.peer[0]):
            if not os.access(tool, os.X_OK):
                sys.exit(f"{tool} is missing: run `make bench`, which installs and builds it")

    def command(self, who, job):
        program = (
            [self.options.bench]
            if who.split("-kept")[0]
            in ("sealstone", "argon2-rust", "rustcrypto", "libsodium", "walk", "pages")
            else self.peer
        )
        return [*program, who, *map(str, JOBS[job])]

    def run(self, who, job):
        """One process: milliseconds of the call, CPU seconds in user and system mode, the hash."""
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
        elif job.startswith("8 MiB"):
            whose = ["sealstone"]
        whose = [who for who in whose if who in (self.options.who or whose)]
        rounds = (
            max(3, self.options.rounds // 3) if JOBS[job][0] >= 1 << 20 else self.options.rounds
        )
        for number in range(rounds):
            print(f"\r{job}: round {number + 1} of {rounds}  ", end="", file=sys.stderr, flush=True)
            hashes = set()
            for who in whose:
                sample, tag = self.run(who, job)
                self.samples.setdefault((job, who), []).append(sample)
                if who not in ("walk", "pages"):
                    hashes.add(tag)
            if len(hashes) > 1:
                sys.exit(f"{job}: not everybody gets the same hash")
        print(file=sys.stderr)

    def times(self, job, who):
        return [sample[0] for sample in self.samples[job, who]]

    def report(self, job):
        memory, passes, lanes, threads = JOBS[job]
        print(
            f"\n{job}: {memory} KiB, t={passes}, p={lanes}, up to {threads} threads; milliseconds"
        )
        print(f"{'':<18}{'min':>9}{'median':>9}{'max':>9}{'user s':>8}{'sys s':>8}{'ns/block':>10}")
        for (name, who), samples in self.samples.items():
            if name == job:
                times = [sample[0] for sample in samples]
                user, system = (statistics.median(sample[i] for sample in samples) for i in (1, 2))
                block = min(times) * 1e6 / (memory * passes)
                print(
                    f"{who:<18}{min(times):9.2f}{statistics.median(times):9.2f}"
                    f"{max(times):9.2f}{user:8.3f}{system:8.3f}"
                    f"{block:10.1f}"
                )

    def bars(self):
        missed = 0
        print(
            "\ntimes of the peer as a multiple of ours: "
            "median of the rounds' ratios (and of minima)"
        )
        rows = [
            (f"{job}: {who} vs {peer}", self.times(job, who), self.times(job, peer), bar)
            for job, who, peer, bar in BARS
            if {(job, who), (job, peer)} <= self.samples.keys()
        ]
        two, one, bar = LANES_BAR
        if (two, "sealstone") in self.samples and (one, "sealstone") in self.samples:
            rows.append(
                (f"{two} vs {one}", self.times(two, "sealstone"), self.times(one, "sealstone"), bar)
            )
        cache, bar = CACHE_BAR
        if (cache, "sealstone") in self.samples:
            everybody = [self.times(job, who) for job, who in self.samples if job == cache]
            rows.append(
                (
                    "in cache vs the quickest",
                    self.times(cache, "sealstone"),
                    min(everybody, key=statistics.median),
                    1 / bar,
                )
            )
        results = []
        for name, ours, theirs, bar in rows:
            ratio = statistics.median(t / o for o, t in zip(ours, theirs))
            best = min(theirs) / min(ours)
            missed += ratio < bar
            results.append(
                dict(name=name, ratio=ratio, ratio_of_minima=best, bar=bar, reached=ratio >= bar)
            )
            print(
                f"{name:<52}{ratio:6.2f} ({best:.2f})   bar: {bar:.2f}   "
                f"{'reached' if ratio >= bar else 'MISSED'}"
            )
        return missed, results


def tables(bench, jobs, bars):
    """The printed tables, in Markdown."""
    yield (
        f"{machine()}. Milliseconds of the call; "
        "processor seconds of the whole process, user and system (medians)."
    )
    for job in jobs:
        memory, passes, lanes, threads = JOBS[job]
        yield (
            f"\n**{job}**: {memory} KiB, t={passes}, p={lanes}, "
            f"up to {threads} {'thread' if threads == 1 else 'threads'}\n"
        )
        yield "| | min | median | max | user | system | ns a block (min) |"
        yield "|---|---|---|---|---|---|---|"
        for (name, who), samples in bench.samples.items():
            if name == job:
                times = [sample[0] for sample in samples]
                user, system = (statistics.median(sample[i] for sample in samples) for i in (1, 2))
                block = min(times) * 1e6 / (memory * passes)
                yield (
                    f"| {who} | {min(times):.1f} | {statistics.median(times):.1f} | "
                    f"{max(times):.1f} | {user:.2f} | {system:.2f} | {block:.0f} |"
                )
    yield "\n| times of the peer as a multiple of ours | median of the rounds | of minima | bar | |"
    yield "|---|---|---|---|---|"
    for bar in bars:
        verdict = "reached" if bar["reached"] else "**missed**"
        yield (
            f"| {bar['name']} | {bar['ratio']:.2f} | {bar['ratio_of_minima']:.2f} | "
            f"{bar['bar']:.2f} | {verdict} |"
        )


BEGIN, END = "<!-- generated by bench/argon2.py --readme -->\n", "<!-- end -->\n"


def write_readme(lines):
    """Puts the tables into the page of results; the last, with the ratios, into the README too."""
    lines = list(lines)
    ratios = max(
        n for n, line in enumerate(lines) if line.lstrip("\n").startswith("| times of the peer")
    )
    replace(ROOT / "bench" / "results" / "argon2.md", lines)
    replace(ROOT / "bench" / "README.md", [line.lstrip("\n") for line in lines[ratios:]])


def replace(page, lines):
    """Puts lines between the markers of a page."""
    before, marker, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not marker or not end:
        sys.exit(f"{page} has lost its markers")
    page.write_text(before + BEGIN + "".join(f"{line}\n" for line in lines) + END + after)


def main():
    options = arguments()
    bench = Bench(options)
    wanted = options.job or ([] if options.others else list(JOBS))
    if wanted:
        bench.need_tools()
    for job in wanted:
        bench.measure(job)
    jobs = [job for job in JOBS if any(name == job for name, _ in bench.samples)]
    print(machine())
    for job in jobs:
        bench.report(job)
    missed, results = bench.bars()
    if options.json:
        samples = [
            dict(job=job, who=who, ms_user_sys=samples)
            for (job, who), samples in bench.samples.items()
        ]
        Path(options.json).write_text(
            json.dumps(dict(machine=machine(), samples=samples, bars=results), indent=1)
        )
    if options.readme:
        write_readme(tables(bench, jobs, results))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
