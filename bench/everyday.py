#!/usr/bin/env python3
"""Counts the commands and prompts of everyday jobs, beside age's, in a pseudo-terminal.

usage: bench/everyday.py [SEALSTONE]

Each command runs at a terminal of its own; a line that ends with ": " and waits is a prompt, and is
answered. The program is target/release/sealstone unless another one is named. The commands of age
run if age is installed; else its column shows what its manual asks for. The script fails if a job
needs more commands or prompts than age, if a prompt appears where the agent should answer, or if
the quickest of ten runs takes longer than LIMITS says. It needs 3 GiB of space in TMPDIR.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PASSPHRASE = "correct horse battery staple"
PROFILE = "--profile=custom:m=7MiB,t=5,p=1"
FIVE = "a b c d e"

# Name, commands of Sealstone, prompts that it may show, commands of age.
# age reads keys from files without a passphrase, so it has no prompts; it signs nothing.
JOBS = [
    ("keygen", [f"sealstone passport new -o me.passport --label me {PROFILE}"], 2,
     ["age-keygen -o me.txt"]),
    ("unlock", ["sealstone passport unlock me.passport"], 1, []),
    ("to a friend", ["sealstone seal --unsigned -r friend.pub report"], 0,
     ["age -R friend.keys -o report.age report"]),
    ("to a friend, signed", ["sealstone seal --force --from me.passport -r friend.pub report"], 0,
     ["age -R friend.keys -o signed.age report"]),
    ("to a friend, third time", ["sealstone seal --force --from me.passport -r friend.pub report"],
     0, ["age -R friend.keys -o third.age report"]),
    ("open", ["sealstone open -i me.passport -o opened mine.sealed"], 0,
     ["age -d -i me.txt -o opened.age mine.age"]),
    ("five files", [f"sealstone seal --from me.passport -r friend.pub {FIVE}"], 0,
     [f"age -R friend.keys -o {name}.age {name}" for name in FIVE.split()]),
    ("a directory", ["sealstone seal --from me.passport -r friend.pub dir"], 0,
     ["tar c dir | age -R friend.keys -o dir.age"]),
    ("one file of 1 GiB", ["sealstone open --force -i me.passport big.sealed 700/file"], 0,
     ["age -d -i me.txt big.age | tar x 700/file"]),
    ("edit", ["sealstone edit -i me.passport --from me.passport mine.sealed"], 0,
     ["age -d -i me.txt -o plain mine.age", "$EDITOR plain", "age -R me.keys -o mine.age plain"]),
    ("add a recipient",
     ["sealstone reseal -i me.passport --from me.passport -r friend.pub mine.sealed"], 0,
     ["age -d -i me.txt -o plain mine.age", "age -R me.keys -R friend.keys -o mine.age plain"]),
]

# Milliseconds for a job that is to feel as if it took no time. Its content is a few bytes.
LIMITS = {"to a friend, third time": 50, "open": 50, "one file of 1 GiB": 200}


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else "target/release/sealstone").resolve()
    with tempfile.TemporaryDirectory() as name:
        world = World(Path(name), program)
        try:
            worse = [job for job in JOBS if not world.run(job)]
        finally:
            world.quiet("sealstone agent stop")
    if worse:
        sys.exit(f"everyday: worse than age, or too many prompts: {', '.join(j[0] for j in worse)}")


class World:
    """A home with a friend, some files, and the programs."""

    def __init__(self, home, program):
        self.home = home
        (home / "bin").mkdir()
        (home / "bin/sealstone").symlink_to(program)
        (home / "run").mkdir(mode=0o700)
        (home / "dir").mkdir()
        for name in ["report", "dir/one", *FIVE.split()]:
            (home / name).write_text("content\n")
        (home / "passphrase").write_text(PASSPHRASE)
        (home / "passphrase").chmod(0o600)
        self.environment = {
            "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "TERM": "dumb",
            "XDG_RUNTIME_DIR": str(home / "run"), "EDITOR": "sed -i s/content/changed/",
            "PATH": f"{home}/bin:/usr/local/bin:/usr/bin:/bin",
        }
        self.has_age = shutil.which("age") is not None
        new = "sealstone passport new --passphrase-file passphrase"
        self.quiet(f"{new} -o friend.passport --label friend {PROFILE}")
        self.quiet("sealstone trust approve --yes friend.pub")
        if self.has_age:
            self.quiet("age-keygen -o friend.txt && age-keygen -y friend.txt > friend.keys")
        print(f"{'job':26}{'commands':>10}{'prompts':>9}{'ms':>7}   age: commands")

    def run(self, job):
        """Runs one job and prints its line. Whether it needs no more than it may."""
        name, ours, allowed, theirs = job
        prompts, begun = 0, time.monotonic()
        for command in ours:
            prompts += self.at_a_terminal(command)
        spent = (time.monotonic() - begun) * 1000
        if name == "unlock":
            self.prepare()
        if self.has_age and theirs:
            if name == "open":
                self.quiet("age-keygen -y me.txt > me.keys; age -R me.keys -o mine.age report")
            for command in theirs:
                self.quiet(command)
        limit = LIMITS.get(name)
        if limit is not None:
            spent = min(self.quickly(ours[0]) for _ in range(10))
        column = f"{len(theirs)}{'' if self.has_age else ' (not run)'}"
        print(f"{name:26}{len(ours):>10}{prompts:>9}{spent:>7.0f}   {column}")
        # Unlocking has no equal in age; it happens once in the time that it lasts.
        enough = prompts <= allowed and (not theirs or len(ours) <= len(theirs))
        return enough and (limit is None or spent < limit)

    def quickly(self, command):
        """The milliseconds of a command, without a terminal and without a shell."""
        words = command.split()
        if "open" in words and "--force" not in words:
            words.append("--force")
        begun = time.monotonic()
        subprocess.run([self.home / "bin/sealstone", *words[1:]], cwd=self.home, check=True,
                       env=self.environment, stdin=subprocess.DEVNULL, capture_output=True)
        return (time.monotonic() - begun) * 1000

    def prepare(self):
        """What the later jobs find."""
        self.quiet("sealstone trust approve --yes me.pub")
        self.quiet("sealstone seal --from me.passport -r me.pub -o mine.sealed report")
        for i in range(1024):
            (self.home / f"big/{i}").mkdir(parents=True)
            (self.home / f"big/{i}/file").write_bytes(os.urandom(1 << 20))
        self.quiet("sealstone seal --from me.passport -r me.pub big")
        if self.has_age:
            self.quiet("age-keygen -y me.txt > me.keys; tar c -C big . | age -R me.keys -o big.age")
        shutil.rmtree(self.home / "big")

    def quiet(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.home, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"everyday: $ {command}\n{done.stderr}")

    def at_a_terminal(self, command):
        """Runs a command at a terminal, answers its prompts, and returns how many there were."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.home)
            os.execve("/bin/bash", ["bash", "-c", command], self.environment)
        prompts, line = 0, b""
        while True:
            ready, _, _ = select.select([terminal], [], [], 60)
            if not ready:
                sys.exit(f"everyday: $ {command}\nwaits for ever after {line!r}")
            try:
                shown = os.read(terminal, 4096)
            except OSError:
                shown = b""
            if not shown:
                break
            line = (line + shown).split(b"\n")[-1]
            if line.endswith(b": "):
                prompts += 1
                line = b""
                os.write(terminal, PASSPHRASE.encode() + b"\n")
        _, status = os.waitpid(child, 0)
        if status != 0:
            sys.exit(f"everyday: $ {command}\nfailed: {os.waitstatus_to_exitcode(status)}")
        return prompts


if __name__ == "__main__":
    main()
