#!/usr/bin/env python3
"""Measures the time that unlocking a passport takes beside its key derivation. Two whole processes
run in turn: one unlocks, one only derives.

usage: bench/unlock.py [--profile NAME] [--rounds N] [--sealstone FILE]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# "Nothing else measurable": the median round may differ by this much of the derivation, which is
# what the machine's own noise does.
TOLERANCE = 0.03


def arguments():
    parser = argparse.ArgumentParser(description="unlocking a passport against deriving its key")
    parser.add_argument(
        "--profile", default="sensitive", choices=("sensitive", "moderate", "interactive")
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sealstone", default=str(ROOT / "target" / "release" / "sealstone"))
    return parser.parse_args()


def seconds(command):
    start = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="sealstone-bench-") as directory:
        at = Path(directory)
        (at / "passphrase").write_text("benchmark passphrase\n")
        (at / "passphrase").chmod(0o600)
        secret = ["--passphrase-file", str(at / "passphrase")]
        passport = str(at / "my.passport")
        subprocess.run(
            [
                options.sealstone,
                "passport",
                "new",
                "-q",
                "-o",
                passport,
                "--label",
                "me",
                "--profile",
                options.profile,
                *secret,
            ],
            check=True,
        )
        unlock = [options.sealstone, "passport", "export", passport, "-o", "-", *secret]
        derive = [
            options.sealstone,
            "password",
            "hash",
            "--profile",
            options.profile,
            "--output",
            "raw-hex",
            "--salt-hex",
            "00" * 32,
            *secret,
        ]
        for command in (unlock, derive):
            seconds(command)
        pairs = [(seconds(unlock), seconds(derive)) for _ in range(options.rounds)]
    report(options, pairs)


def report(options, pairs):
    unlocks, derivations = zip(*pairs)
    print(f"{options.profile}, {options.rounds} rounds; seconds, whole processes")
    for name, values in (("unlock", unlocks), ("derive", derivations)):
        print(f"{name:<8} min {min(values):.3f}  median {statistics.median(values):.3f}")
    ratio = statistics.median(unlock / derive for unlock, derive in pairs)
    good = abs(ratio - 1) <= TOLERANCE
    print(
        f"unlocking takes {ratio:.3f} times the derivation "
        "(median of the rounds; "
        f"of minima {min(unlocks) / min(derivations):.3f})   "
        f"bar: within {TOLERANCE:.0%}   {'reached' if good else 'MISSED'}"
    )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
