"""The jobs of the Makefile end in failure when what they run fails or is not there."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

# Stands in for `cargo install`, and puts a program at ROOT/bin/sealstone; and for `cargo rustc`.
CARGO = """#!/usr/bin/env bash
set -e
if [[ $1 == rustc ]]; then
    mkdir -p "$CARGO_TARGET_DIR/release"
    cp "$FAKE_LIBRARY" "$CARGO_TARGET_DIR/release/libsealstone_capi.a"
    exit
fi
while [[ $1 != --root ]]; do shift; done
mkdir -p "$2/bin"
cp "$FAKE_SEALSTONE" "$2/bin/sealstone"
"""
SEALSTONE = """#!/usr/bin/env bash
case $1 in
    man) echo page >"$2/sealstone.1" ;;
    completions) echo "completions for $2" ;;
    selftest) [[ $2 == --proofs ]] ;;
esac
"""
TARGET = "#![no_main]\n"

class Jobs(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="sealstone-jobs-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        own = ["Makefile", ".ci/run", "scripts/fuzz", "scripts/install", "scripts/library"]
        own += ["scripts/record-session", "crates/cli/session.svg"]
        for name in [*own, "crates/capi/sealstone.map"]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HERE / name, self.root / name)
        shutil.copytree(HERE / "crates/capi/include", self.root / "crates/capi/include")
        self.write("Cargo.toml", '[workspace.package]\nversion = "0.1.0"\n')
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
        own = {
            "CARGO_TARGET_DIR": str(self.root / "target"),
            "FAKE_LIBRARY": str(self.archive()),
            "FAKE_SEALSTONE": str(self.bin / "sealstone"),
        }
        return self.run_here("scripts/install", **own, **variables)

    def archive(self):
        """A library with every name that is to be exported, and one that is not."""
        names = (HERE / "crates/capi/sealstone.map").read_text(encoding="utf-8")
        exported = re.findall(r"^ +(sealstone_\w+);$", names, re.MULTILINE)
        functions = "".join(f"void {name}(void) {{}}\n" for name in [*exported, "internal"])
        self.write("all.c", functions)
        subprocess.run(["cc", "-fPIC", "-c", "all.c"], cwd=self.root, check=True)
        subprocess.run(["ar", "rcs", "all.a", "all.o"], cwd=self.root, check=True)
        return self.root / "all.a"

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
                "include/sealstone.h",
                "include/sealstone.hpp",
                "include/sealstone/core.hpp",
                "include/sealstone/files.hpp",
                "include/sealstone/packages.hpp",
                "include/sealstone/tokens.hpp",
                "lib/libsealstone.a",
                "lib/libsealstone.so",
                "lib/libsealstone.so.0.1",
                "lib/libsealstone.so.0.1.0",
                "lib/pkgconfig/sealstone.pc",
                "share/bash-completion/completions/sealstone",
                "share/fish/vendor_completions.d/sealstone.fish",
                "share/man/man1/sealstone.1",
                "share/zsh/site-functions/_sealstone",
            ],
        )

        told = "export PKG_CONFIG_PATH=/opt/s/lib/pkgconfig LD_LIBRARY_PATH=/opt/s/lib"
        self.assertIn(told, done.stdout)
        found = (installed / "lib/pkgconfig/sealstone.pc").read_text(encoding="utf-8")
        self.assertTrue(found.startswith("prefix=/opt/s\n"), found)
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", "--with-symbol-versions", installed / "lib/libsealstone.so"],
            capture_output=True,
            text=True,
        )
        self.assertIn(" sealstone_seal@@SEALSTONE_0.1\n", listed.stdout)
        self.assertNotIn("internal", listed.stdout)

    def test_a_name_that_the_library_lacks_is_noticed(self):
        self.program("bin/sealstone", SEALSTONE)
        with (self.root / "crates/capi/sealstone.map").open("a", encoding="utf-8") as versions:
            versions.write("SEALSTONE_0.2 {\nglobal:\n    sealstone_gone;\n} SEALSTONE_0.1;\n")
        done = self.install()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("sealstone_gone", done.stderr)

    def test_install_tells_whether_the_command_is_proved(self):
        for status, told in [(0, "has the proved machine code"), (1, "other machine code"), (3, "cannot be compared")]:
            self.program("bin/sealstone", SEALSTONE.replace("[[ $2 == --proofs ]]", f"exit {status}"))
            done = self.install()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(told, done.stdout)

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
        always, in_time = ["lint", "test", "prove"], ["test-services", "test-constant-time"]
        steps = [*always, *in_time, "test-platforms", "prove-service", "prove-levels"]
        self.write("Makefile", f"{' '.join(steps)}:\n\t@echo did $@\n")
        done = self.run_here(".ci/run")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual([line for line in lines if line.startswith("did ")], [f"did {step}" for step in steps])
        times = "\n".join(rf"ci: make {step}: \d+ s" for step in steps)
        self.assertRegex("\n".join(lines[-len(steps) - 1 :]), f"ci: every step that was run has passed\n{times}")

    def test_ci_says_which_steps_it_had_no_time_for(self):
        steps = ["test", "prove"]
        self.write("Makefile", f"lint:\n\tsleep 3\n{' '.join(steps)}:\n\t@echo did $@\n")
        # Bash begins to count there. After three seconds of `make lint` no time is left.
        done = self.run_here(".ci/run", SECONDS="3478")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("did prove", done.stdout)
        optional = ["test-services", "test-constant-time", "test-platforms", "prove-service", "prove-levels"]
        for step in optional:
            self.assertNotIn(f"did {step}", done.stdout)
            self.assertRegex(done.stdout, rf"ci: make {step}: NOT RUN, because it may take \d+ s, and -?\d+ s are left\n")

    def test_ci_fails_with_a_failing_step(self):
        self.write("Makefile", "lint:\n\tfalse\ntest:\n\t@echo did $@\n")
        done = self.run_here(".ci/run")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("did test", done.stdout)
        self.assertIn("ci: make lint: not finished", done.stdout)
