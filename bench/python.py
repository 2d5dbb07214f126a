#!/usr/bin/env python3
"""Measures the Python package beside its peers, in turn, in one process.

Every round runs every job once, so that a machine whose speed drifts treats all alike. It prints
minimum and median of the rounds in milliseconds, and how many times the peer takes as long. It
fails if a ratio is below what the project promises. `--interpreter` names a Python that has the
package and bench/python.requirements.txt; `scripts/setup bench` makes one. The command and
bench-package, which measures packages in Rust, are processes that take their turn.

usage: bench/python.py [--rounds N] [--only WORD] [--markdown] [--interpreter PYTHON]
                       [--programs DIR]
"""

import argparse
import atexit
import functools
import hashlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Files beside this one have the names of peers.
sys.path.remove(str(Path(__file__).resolve().parent))

ROOT = Path(__file__).resolve().parent.parent
INTERPRETER = ROOT / ".tools/bench-python/bin/python"
PROGRAMS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
PASSWORD, SALT = b"correct horse battery", bytes(range(16))
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# The promises of the project: job, peer → the least ratio of times.
BARS = [
    ("argon2id 64 MiB t=3", "the command, less its start", 1.0),
    ("argon2id 64 MiB t=3", "argon2-cffi", 1.7),
    ("argon2id 19 MiB t=2", "argon2-cffi", 3.0),
    # The promise names no size of memory, so it is asked of all.
    ("argon2id 1 MiB t=3, 400 hashes, 8 threads", "one thread", 1.9),
    ("argon2id 19 MiB t=2, 40 hashes, 8 threads", "one thread", 1.9),
    ("argon2id 64 MiB t=3, 8 hashes, 8 threads", "one thread", 1.9),
    ("skein-512 64 B", "pyskein", 1.0),
    ("skein-512 4 KiB", "pyskein", 1.0),
    ("skein-512 1 MiB", "pyskein", 1.0),
    ("seal 1 GiB, signed", "the command", 0.95),
    ("sign a package of five layers", "Rust", 1 / 1.2),
    ("verify a package of five layers", "Rust", 1 / 1.2),
    ("import", "15 ms", 1.0),
]


def pattern(length):
    return (bytes(range(251)) * (length // 251 + 1))[:length]


def repeated(count, call):
    """A job that is too short to be measured alone: the time of one call."""

    def run():
        start = time.perf_counter()
        for _ in range(count):
            call()
        return (time.perf_counter() - start) / count

    return run


def seconds_of(*command):
    """The time of a process that has to succeed."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def argon2_command(sealstone):
    """Our command, less the time of one that does nothing."""
    hash_one = [sealstone, "password", "hash", "--memory-kib", str(64 * KIB), "--iterations", "3"]
    hash_one += ["--parallelism", "1", "--no-progress", "--passphrase-command", "echo password"]
    nothing = [sealstone, "--version"]
    return lambda: seconds_of(*hash_one) - seconds_of(*nothing)


def argon2_jobs(programs):
    import nacl.pwhash.argon2id
    from argon2.low_level import Type as PeerType
    from argon2.low_level import hash_secret_raw as peer
    from sealstone.argon2.low_level import Type, hash_secret_raw

    jobs = {}
    for mib, passes in ((64, 3), (19, 2)):
        name, cost = f"argon2id {mib} MiB t={passes}", (passes, mib * KIB, 1, 32)
        jobs[name] = {
            "sealstone": repeated(
                1, lambda cost=cost: hash_secret_raw(PASSWORD, SALT, *cost, Type.ID)
            ),
            "argon2-cffi": repeated(1, lambda cost=cost: peer(PASSWORD, SALT, *cost, PeerType.ID)),
            "PyNaCl": repeated(
                1,
                lambda cost=cost: nacl.pwhash.argon2id.kdf(
                    32, PASSWORD, SALT, cost[0], cost[1] * KIB
                ),
            ),
        }

    jobs["argon2id 64 MiB t=3"]["the command, less its start"] = argon2_command(
        programs / "sealstone"
    )

    pool = ThreadPoolExecutor(8)
    for mib, passes, count in ((1, 3, 400), (19, 2, 40), (64, 3, 8)):

        def hash_one(_, kib=mib * KIB, passes=passes):
            hash_secret_raw(PASSWORD, SALT, passes, kib, 1, 32, Type.ID)

        jobs[f"argon2id {mib} MiB t={passes}, {count} hashes, 8 threads"] = {
            "sealstone": repeated(
                1, lambda one=hash_one, count=count: list(pool.map(one, range(count)))
            ),
            "one thread": repeated(
                1, lambda one=hash_one, count=count: [one(0) for _ in range(count)]
            ),
            "two processes": repeated(1, two_processes(passes, mib * KIB, count)),
        }
    return jobs


def two_processes(passes, kib, count):
    """Half of the hashes in each of two processes with one thread, which have nothing in common:
    what two processors can do. They wait for a line between the rounds."""
    program = f"""
import sys
from sealstone.argon2.low_level import Type, hash_secret_raw
for _ in sys.stdin:
    for _ in range({count // 2}):
        hash_secret_raw({PASSWORD}, {SALT}, {passes}, {kib}, 1, 32, Type.ID)
    print(flush=True)
"""

    @functools.cache
    def processes():
        command, pipe = [sys.executable, "-c", program], subprocess.PIPE
        started = [subprocess.Popen(command, stdin=pipe, stdout=pipe) for _ in range(2)]
        for it in started:
            atexit.register(it.communicate)
        return started

    def run():
        for it in processes():
            it.stdin.write(b"\n")
            it.stdin.flush()
        for it in processes():
            it.stdout.readline()

    return run


def hash_jobs(_programs):
    import blake3
    import skein
    from sealstone.hashes import Blake2b, Skein512, SkeinTree

    jobs = {}
    for name, length, count in (
        ("64 B", 64, 20_000),
        ("4 KiB", 4 * KIB, 2_000),
        ("1 MiB", MIB, 20),
    ):
        data = pattern(length)
        jobs[f"skein-512 {name}"] = {
            "sealstone": repeated(count, lambda data=data: Skein512(data).digest()),
            "pyskein": repeated(count, lambda data=data: skein.skein512(data).digest()),
        }
        jobs[f"blake2b {name}"] = {
            "sealstone": repeated(count, lambda data=data: Blake2b(data).digest()),
            "hashlib": repeated(count, lambda data=data: hashlib.blake2b(data).digest()),
        }
    large = pattern(64 * MIB)
    jobs["tree hash 64 MiB"] = {
        "sealstone": repeated(1, lambda: SkeinTree(large).digest()),
        "blake3, all threads": repeated(
            1, lambda: blake3.blake3(large, max_threads=blake3.blake3.AUTO).digest()
        ),
        "hashlib sha256": repeated(1, lambda: hashlib.sha256(large).digest()),
        "hashlib sha3-256": repeated(1, lambda: hashlib.sha3_256(large).digest()),
    }
    return jobs


def file_jobs(programs):
    import pyrage
    import sealstone
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from nacl.public import PrivateKey, SealedBox

    data, jobs = pattern(64 * MIB), {}
    bob, age = sealstone.Passport.generate("Bob"), pyrage.x25519.Identity.generate()
    box, cipher = SealedBox(PrivateKey.generate()), ChaCha20Poly1305(bytes(32))
    jobs["seal 64 MiB, unsigned"] = {
        "sealstone": repeated(1, lambda: sealstone.seal(data, to=bob.public)),
        "pyrage": repeated(1, lambda: pyrage.encrypt(data, [age.to_public()])),
        "PyNaCl SealedBox": repeated(1, lambda: box.encrypt(data)),
        "cryptography, cipher only": repeated(1, lambda: cipher.encrypt(bytes(12), data, None)),
    }
    ours, theirs = sealstone.seal(data, to=bob.public), pyrage.encrypt(data, [age.to_public()])
    jobs["open 64 MiB, unsigned"] = {
        "sealstone": repeated(1, lambda: sealstone.open(ours, keys=bob, sender="unsigned")),
        "pyrage": repeated(1, lambda: pyrage.decrypt(theirs, [age])),
    }
    jobs["seal 1 GiB, signed"] = gib_jobs(programs / "sealstone")
    short = pattern(KIB)
    jobs["seal 1 KiB, unsigned"] = {
        "sealstone": repeated(50, lambda: sealstone.seal(short, to=bob.public)),
        "pyrage": repeated(50, lambda: pyrage.encrypt(short, [age.to_public()])),
    }
    return jobs


def gib_jobs(sealstone):
    """A GiB of bytes, and a file of a GiB in memory. The passphrase of the command's passport costs
    so little that it does not count. The first round, which warms up, makes them."""
    import sealstone as module

    @functools.cache
    def prepared():
        folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
        atexit.register(shutil.rmtree, folder)
        large, sealed = folder / "large", folder / "sealed"
        large.write_bytes(pattern(GIB))
        alice, bob = module.Passport.generate("Alice"), module.Passport.generate("Bob")
        (folder / "alice.passport").write_bytes(
            alice.lock("password", profile=(7168, 5, 1)).encode()
        )
        (folder / "bob.pub").write_text(bob.public.text)
        command = [
            sealstone,
            "seal",
            large,
            "--output",
            sealed,
            "--force",
            "--no-progress",
            "--no-agent",
        ]
        command += ["--recipient", folder / "bob.pub", "--from", folder / "alice.passport"]
        command += ["--passphrase-command", "echo password"]
        return large.read_bytes(), alice, bob.public, command

    def ours():
        data, alice, bob, _ = prepared()
        module.seal(data, to=bob, sender=alice)

    return {
        "sealstone": in_warm_memory(repeated(1, ours)),
        "the command": in_warm_memory(lambda: seconds_of(*prepared()[3])),
    }


def in_warm_memory(run):
    """A virtual machine's host may take back memory that is free for some seconds. The first
    program that touches it again would wait for the host."""

    def both():
        touched = b"\1" * GIB
        del touched
        return run()

    return both


def rust_package(bench_package, job):
    """The median of some rounds in Rust, in seconds."""
    command = [bench_package, "--rounds", "5", "--only", job]

    def run():
        lines = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        (line,) = (line for line in lines if line.startswith(job))
        _minimum, median, _rate = line.removeprefix(job).split()
        return float(median) / 1e6

    return run


def package_jobs(programs):
    import sealstone
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey
    from sealstone.packages import Package, sign

    alice, short = sealstone.Passport.generate("Alice"), pattern(KIB)
    classical, quantum = Ed25519PrivateKey.generate(), MLDSA65PrivateKey.generate()
    pair = classical.sign(short), quantum.sign(short)
    stored = sign(alice, embed={"a": short}).to_bytes()

    def verify():
        classical.public_key().verify(pair[0], short)
        quantum.public_key().verify(pair[1], short)

    # As bench/src/package.rs has it.
    policy = {"purpose": ["research", "teaching"], "review": 2027, "term": "ten years"}
    keys = {"hmac_key": b"k" * 32, "secret": b"s" * 32}

    def sign_five():
        return sign(
            alice, embed={"data.csv": short}, policy=policy, require=["hmac", "keys"], **keys
        ).to_bytes()

    # Rust's job has the public passport before, too. Its rounds take about 50 ms; a shorter job
    # would mostly measure how slow a processor is after another process.
    five, public, bench_package = sign_five(), alice.public, programs / "bench-package"
    return {
        "sign a package of five layers": {
            "sealstone": repeated(100, sign_five),
            "Rust": rust_package(bench_package, "package create"),
        },
        "verify a package of five layers": {
            "sealstone": repeated(300, lambda: Package.load(five).verify(signers=public, **keys)),
            "Rust": rust_package(bench_package, "package verify"),
        },
        "sign a package of 1 KiB": {
            "sealstone": repeated(20, lambda: sign(alice, embed={"a": short}).to_bytes()),
            "cryptography, both signatures": repeated(
                20, lambda: (classical.sign(short), quantum.sign(short))
            ),
        },
        "verify a package of 1 KiB": {
            "sealstone": repeated(20, lambda: Package.load(stored).verify(signers=public)),
            "cryptography, both signatures": repeated(20, verify),
        },
    }


def import_jobs(_programs):
    program = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"

    def run(module):
        done = subprocess.run(
            [sys.executable, "-c", program.format(module)], capture_output=True, check=True
        )
        return float(done.stdout)

    return {
        "import": {
            "sealstone": lambda: run("sealstone"),
            "15 ms": lambda: 0.015,
            "argon2-cffi": lambda: run("argon2"),
            "cryptography": lambda: run("cryptography.hazmat.primitives.asymmetric.ed25519"),
        }
    }


def measure(jobs, rounds):
    """Seconds of each job and peer, in the order of the rounds."""
    times = {name: {peer: [] for peer in peers} for name, peers in jobs.items()}
    for number in range(rounds + 1):
        for name, peers in jobs.items():
            for peer, run in peers.items():
                seconds = run()
                if number:  # The first round warms up.
                    times[name][peer].append(seconds)
    return times


def rows(times):
    """Job, program, minimum and median in milliseconds, ratio of medians, bar."""
    bars = {(job, peer): bar for job, peer, bar in BARS}
    for name, peers in times.items():
        ours = peers["sealstone"]
        for peer, seconds in peers.items():
            ratios = [other / own for other, own in zip(seconds, ours)]
            yield (
                name,
                peer,
                min(seconds) * 1e3,
                statistics.median(seconds) * 1e3,
                statistics.median(ratios),
                bars.get((name, peer)),
            )


def verdict(ratio, bar):
    if bar is None:
        return ""
    return "reached" if ratio >= bar else "**missed**"


def report(times, markdown):
    edge = "| " if markdown else ""
    if markdown:
        print(
            "| job | program | min ms | median ms | times as long | bar | |\n"
            "|---|---|---|---|---|---|---|"
        )
    missed = 0
    for name, peer, least, middle, ratio, bar in rows(times):
        word = verdict(ratio, bar)
        missed += word == "**missed**"
        fields = [
            f"{name:<42}",
            f"{peer:<30}",
            f"{least:10.4f}",
            f"{middle:10.4f}",
            f"{ratio:7.2f}",
            f"{bar and round(bar, 2) or '':>5}",
            word,
        ]
        print(
            edge
            + (" | ".join(it.strip() for it in fields) + " |" if markdown else " ".join(fields))
        )
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", metavar="WORD", help="jobs whose name has this word")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table of bench/README.md"
    )
    parser.add_argument("--interpreter", default=str(INTERPRETER), metavar="PYTHON")
    parser.add_argument(
        "--programs", type=Path, default=PROGRAMS, metavar="DIR", help="where the command is"
    )
    options = parser.parse_args()
    if os.path.realpath(sys.prefix) != os.path.realpath(Path(options.interpreter).parent.parent):
        # Its prefix is another one than ours: go on there.
        os.execv(options.interpreter, [options.interpreter, __file__, *sys.argv[1:]])
    groups = (argon2_jobs, hash_jobs, file_jobs, package_jobs, import_jobs)
    jobs = {
        name: peers
        for group in groups
        for name, peers in group(options.programs).items()
        if options.only in name
    }
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, {options.rounds} rounds",
        file=sys.stderr,
    )
    return 1 if report(measure(jobs, options.rounds), options.markdown) else 0


if __name__ == "__main__":
    sys.exit(main())
