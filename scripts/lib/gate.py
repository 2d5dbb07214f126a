"""What the gates share: where the repository is, and how a finding is told."""

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]


def root_argument(description):
    """The repository to look at: this one, or another one in a test."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=HERE, help="repository to check")
    return parser.parse_args().root.resolve()


def repository_files(root):
    """Every file that is committed or would be, relative to `root`."""
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = (Path(name) for name in listed.split("\0") if name)
    return sorted({name for name in names if (root / name).is_file()})


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"git {arguments[0]} failed in {root}: {done.stderr.strip()}")
    return done.stdout


def finish(gate, findings, looked_at):
    """Prints every finding and one closing line; the exit status says whether there was one."""
    for finding in findings:
        print(finding, file=sys.stderr)
    print(f"{gate}: {looked_at}, {len(findings)} violations")
    sys.exit(1 if findings else 0)
