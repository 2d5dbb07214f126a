"""The jobs of the Makefile end in failure when what they run fails or is not there."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

# Stands in for `cargo install`: puts a program at ROOT/bin/sealstone.
CARGO = """#!/usr/bin/env bash
set -e
while [[ $1 != --root ]]; do shift; done
mkdir -p "$2/bin"
cp "$FAKE_SEALSTONE" "$2/bin/sealstone"
"""
SEALSTONE = """#!/usr/bin/env bash
case $1 in
    man) echo page >"$2/sealstone.1" ;;
    completions) echo "completions for $2" ;;
esac
"""
TARGET = "#![no_main]\n"

class Jobs(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="sealstone-jobs-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        for name in ["Makefile", ".ci/run", "scripts/fuzz", "scripts/install", "scripts/record-session", "crates/cli/session.svg"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / name, self.root / name)
        self.bin = self.root / "bin"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def program(self, name, text):
        self.write(name, text)
        (self.root / name).chmod(0o755)

    def run_here(self, *command, **variables):
        environment = {"PATH": f"{self.bin}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.root), "LC_ALL": "C", **variables}
        return subprocess.run(command, capture_output=True, text=True, cwd=self.root, env=environment)

    def install(self, **variables):
        self.program("bin/cargo", CARGO)
        return self.run_here("scripts/install", FAKE_SEALSTONE=str(self.bin / "sealstone"), **variables)

    def test_install_respects_prefix_and_destdir(self):
        self.program("bin/sealstone", SEALSTONE)
        done = self.install(PREFIX="/opt/s", DESTDIR=str(self.root / "stage"))
        self.assertEqual(done.returncode, 0, done.stderr)
        installed = self.root / "stage/opt/s"
        names = sorted(str(p.relative_to(installed)) for p in installed.rglob("*") if p.is_file())
        self.assertEqual(
            names,
            [
                "bin/sealstone",
                "share/bash-completion/completions/sealstone",
                "share/fish/vendor_completions.d/sealstone.fish",
                "share/man/man1/sealstone.1",
                "share/zsh/site-functions/_sealstone",
            ],
        )

    def test_install_goes_to_the_home_directory_by_default(self):
        self.program("bin/sealstone", SEALSTONE)
        self.assertEqual(self.install().returncode, 0)
        self.assertTrue((self.root / ".local/bin/sealstone").is_file())

    def test_install_fails_if_the_command_has_no_manual(self):
        self.program("bin/sealstone", "#!/bin/sh\nexit 2\n")
        self.assertNotEqual(self.install().returncode, 0)

    def test_install_refuses_a_relative_prefix(self):
        done = self.install(PREFIX="here")
        self.assertEqual(done.returncode, 1)
        self.assertIn("PREFIX must be an absolute path", done.stderr)

    def test_another_session_than_the_picture_shows_is_noticed(self):
        self.program("bin/sealstone", "#!/bin/sh\necho \"$1: another text\"\n")
        done = self.run_here("scripts/record-session", "--check", "bin/sealstone")
        self.assertEqual(done.returncode, 1)
        self.assertIn("seal: another text", done.stderr)
        self.assertIn("session.svg shows another session", done.stderr)

    def test_a_session_that_fails_is_none(self):
        self.program("bin/sealstone", "#!/bin/sh\necho no; exit 2\n")
        done = self.run_here("scripts/record-session", "bin/sealstone")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed:\nno", done.stderr)
        self.assertEqual((self.root / "crates/cli/session.svg").read_text(), (HERE / "crates/cli/session.svg").read_text())

    def test_fuzz_without_targets(self):
        done = self.run_here("scripts/fuzz")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no targets", done.stderr)

    def test_fuzz_with_a_crash(self):
        self.write("fuzz/fuzz_targets/header.rs", TARGET)
        self.program("bin/cargo-fuzz", "#!/bin/sh\nexit 77\n")
        done = self.run_here("scripts/fuzz", "1")
        self.assertEqual(done.returncode, 77)
        self.assertNotIn("no crash", done.stdout)

    def test_fuzz_runs_every_target_for_the_time_given(self):
        for name in ["armor", "header"]:
            self.write(f"fuzz/fuzz_targets/{name}.rs", TARGET)
        self.program("bin/cargo-fuzz", "#!/bin/sh\necho \"$@\"\n")
        done = self.run_here("scripts/fuzz", "7")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ["armor", "header"]:
            self.assertIn(f"{name} fuzz/corpus/{name} -- -max_total_time=7", done.stdout)
        self.assertIn("fuzz: 2 targets, no crash", done.stdout)

    def test_ci_runs_the_steps_and_tells_their_times(self):
        steps = ["lint", "test", "test-services", "test-platforms", "test-constant-time", "prove"]
        self.write("Makefile", f"{' '.join(steps)}:\n\t@echo did $@\n")
        done = self.run_here(".ci/run")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line for line in lines if line.startswith("did ")], [f"did {step}" for step in steps])
        self.assertRegex("\n".join(lines[-len(steps) - 1 :]), "ci: all steps passed\n" + "\n".join(rf"ci: make {step}: \d+ s" for step in steps))

    def test_ci_fails_with_a_failing_step(self):
        self.write("Makefile", "lint:\n\tfalse\ntest:\n\t@echo did $@\n")
        done = self.run_here(".ci/run")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("did test", done.stdout)
        self.assertIn("ci: make lint: not finished", done.stdout)
