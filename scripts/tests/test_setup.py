"""scripts/setup on machines that lack something, played by stand-ins on the PATH."""

import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

PLAIN = ["bash", "cat", "chmod", "dirname", "env", "find", "head", "mktemp", "rm", "sed", "sort"]
COMPLETE = {
    "c++": "exit 0",
    "cc": "exit 0",
    "cargo": "exit 0",
    "git": "exit 0",
    "go": "exit 0",
    "javac": "echo javac 25.0.1",
    "node": "exit 0",
    "npm": "exit 0",
    "openssl": "exit 0",
    "nginx": "exit 0",
    "pg_ctlcluster": "exit 0",
    "caddy": "exit 0",
    "chromium": "exit 0",
    "curl": "exit 0",
    "fish": "exit 0",
    "zsh": "exit 0",
    "pkg-config": "exit 0",
    "python3": "exit 0",
    "redis-cli": "exit 0",
    "redis-server": "exit 0",
    "rustc": "echo 'rustc 1.95.0 (0 2026-01-01)'",
    "setpriv": "exit 0",
    "strace": "exit 0",
    "valgrind": "exit 0",
}
# Records how it was called; installing puts the program of that name on the PATH.
APT_GET = """
echo "apt-get $*" >>"$LOG"
[[ " $* " != *" gcc "* ]] || printf '#!/bin/sh\\nexit 0\\n' >"$BIN/cc"
chmod +x "$BIN"/*
"""
RUSTUP = """
echo "rustup $*" >>"$LOG"
printf '#!/bin/sh\\necho rustc 1.95.0\\n' >"$BIN/rustc"
chmod +x "$BIN/rustc"
"""
# Fetches a rustup-init that puts a compiler on the PATH.
CURL = """
while [[ $1 != -o ]]; do shift; done
cat >"$2" <<'END'
#!/bin/bash
echo "rustup-init $*" >>"$LOG"
for program in cargo rustc; do printf '#!/bin/sh\\necho rustc 1.95.0\\n' >"$BIN/$program"; done
chmod +x "$BIN/cargo" "$BIN/rustc"
END
"""

TARGETS = [
    "aarch64-unknown-linux-gnu",
    "i686-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "wasm32-unknown-unknown",
]


class Setup(unittest.TestCase):
    """A machine with nothing but the tools of Debian's base system and what the test adds."""

    def setUp(self):
        self.bin = Path(tempfile.mkdtemp(prefix="sealstone-setup-")).resolve()
        self.addCleanup(shutil.rmtree, self.bin)
        for name in PLAIN:
            (self.bin / name).symlink_to(shutil.which(name))
        self.add("apt-get", APT_GET)
        self.add("apt-cache", "echo 'Candidate: (none)'")
        self.add("sudo", 'exec "$@"')
        for name, body in COMPLETE.items():
            self.add(name, body)
        (self.bin / "jdk/bin").mkdir(parents=True)
        (self.bin / "jdk/bin/javac").symlink_to(self.bin / "javac")

    def add(self, name, body):
        (self.bin / name).write_text(f"#!{shutil.which('bash')}\n{body}\n", encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def remove(self, *names):
        for name in names:
            (self.bin / name).unlink()

    def run_setup(self, *jobs):
        environment = {
            "PATH": str(self.bin),
            "HOME": str(self.bin / "home"),
            "JAVA_HOME": str(self.bin / "jdk"),
            "SEALSTONE_JVM": str(self.bin / "jvm"),
            "BIN": str(self.bin),
            "LOG": str(self.bin / "log"),
        }
        command = [HERE / "scripts/setup", *jobs]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def assert_dies(self, done, *expected):
        self.assertNotEqual(done.returncode, 0)
        for text in expected:
            self.assertIn(text, done.stderr)

    def log(self):
        return (self.bin / "log").read_text(encoding="utf-8")

    def test_complete_machine_is_silent_and_quick(self):
        self.have_target("wasm32-unknown-unknown")
        start = time.monotonic()
        done = self.run_setup("build", "test", "services", "js")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertLess(time.monotonic() - start, 3)
        self.assertFalse((self.bin / "log").exists())

    def test_installs_a_missing_compiler_and_says_so(self):
        self.add("cc", "exit 1")
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("setup: installing with apt-get: gcc libc6-dev\n", done.stderr)
        self.assertIn("apt-get update", self.log())
        self.assertRegex(self.log(), "apt-get install .*--no-install-recommends.* gcc libc6-dev")

    def test_collects_what_all_jobs_need(self):
        self.add("cc", "exit 1")
        self.remove("git")
        self.add("python3", "exit 1")
        self.add("apt-cache", "echo '  Candidate: 3.13.5-1'")
        done = self.run_setup("build", "test", "prove")
        python = "python3 python3-pip python3-venv git python3-dev libpython3.13-testsuite"
        self.assertIn(f"installing with apt-get: gcc libc6-dev {python}\n", done.stderr)

    def test_tests_need_what_they_compile_and_run(self):
        self.remove("strace", "valgrind", "node", "npm", "openssl", "fish", "zsh", "pkg-config", "c++", "go")
        self.add("python3", '[[ "$*" != *Python.h* && "$*" != *test_memoryio* ]] && echo 3.11')
        done = self.run_setup("test")
        others = "strace valgrind nodejs npm openssl fish zsh pkgconf g++ golang-go"
        self.assertIn(f"installing with apt-get: python3-dev libpython3.11-testsuite {others}\n", done.stderr)

    def have_target(self, target):
        (self.bin / "lib/rustlib" / target).mkdir(parents=True)
        self.add("rustc", f"[[ $1 != --print ]] && echo 'rustc 1.95.0' || echo {self.bin}")

    def test_visitors_side_needs_node_and_webassembly(self):
        self.remove("node", "npm")
        self.add("rustc", f"[[ $1 != --print ]] && echo 'rustc 1.95.0' || echo {self.bin}")
        self.add("rustup", RUSTUP)
        done = self.run_setup("js")
        self.assertIn("installing with apt-get: nodejs npm\n", done.stderr)
        self.assertIn("rustup target add wasm32-unknown-unknown", self.log())

    def test_tests_need_a_new_java_where_the_system_has_one(self):
        self.add("javac", "echo javac 17.0.15")
        self.assertEqual(self.run_setup("test").stderr, "")
        self.add("apt-cache", "[[ $2 != openjdk-25-* ]] || echo '  Candidate: 25.0.1'")
        self.assertIn("with apt-get: openjdk-25-jdk-headless\n", self.run_setup("test").stderr)

    def test_services_need_servers(self):
        self.remove("redis-server", "redis-cli", "setpriv", "pg_ctlcluster", "chromium")
        done = self.run_setup("services")
        self.assertIn("installing with apt-get: redis-server redis-tools util-linux postgresql chromium\n", done.stderr)

    def test_failing_apt_get_is_a_failure(self):
        self.add("cc", "exit 1")
        self.add("apt-get", "exit 100")
        self.assertEqual(self.run_setup("build").returncode, 100)

    def test_another_system_is_told_what_is_missing(self):
        self.add("cc", "exit 1")
        self.remove("apt-get")
        self.assert_dies(self.run_setup("build"), "missing", "gcc libc6-dev")

    def test_no_rust_and_no_package_for_it(self):
        self.remove("cargo", "rustc")
        self.add("uname", "echo riscv64")
        self.assert_dies(self.run_setup("build"), "no package 'rustup'", "https://rustup.rs")

    def without_rust(self, sha256sum):
        """A machine without Rust and a package for it, and a rustup-init with a digest that is
        right or not."""
        self.remove("cargo", "rustc")
        self.add("uname", "echo x86_64")
        self.add("curl", CURL)
        self.add("sha256sum", f'read -r line; echo "sha256sum $line" >>"$LOG"; exit {sha256sum}')

    def test_no_rust_is_fetched_by_its_digest(self):
        self.without_rust(sha256sum=0)
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("setup: installing Rust with rustup 1.28.2", done.stderr)
        self.assertRegex(self.log(), "sha256sum [0-9a-f]{64}  /.*/rustup-init\n(.*\n)*rustup-init -y .*--default-toolchain stable")

    def test_another_rustup_is_not_run(self):
        self.without_rust(sha256sum=1)
        self.assert_dies(self.run_setup("build"), "not rustup 1.28.2")
        self.assertNotIn("rustup-init -y", self.log())

    def test_no_rust_but_a_package_for_it(self):
        self.remove("cargo", "rustc")
        self.add("apt-cache", "echo '  Candidate: 1.27.1-3'")
        self.add("rustup", RUSTUP)
        done = self.run_setup("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.log(), "apt-get install .* rustup")
        self.assertIn("rustup toolchain install stable", self.log())

    def test_old_rust(self):
        self.add("rustc", "echo 'rustc 1.63.0 (4b91a6ea7 2022-08-08)'")
        self.assert_dies(self.run_setup("build"), "rustc 1.63.0 is too old", "rustup update stable")

    def test_another_processor_needs_an_emulator_a_linker_and_a_library(self):
        self.add("uname", "echo x86_64")
        self.add("rustc", f"[[ $1 != --print ]] && echo 'rustc 1.95.0' || echo {self.bin}")
        self.add("rustup", RUSTUP)
        done = self.run_setup("platforms")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("installing with apt-get: qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-i686-linux-gnu "
            "libc6-dev-i386-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross\n", done.stderr)
        for target in TARGETS:
            self.assertIn(f"rustup target add {target}", self.log())

    def test_another_processor_is_there(self):
        for name in ["aarch64", "i386", "s390x"]:
            self.add(f"qemu-{name}-static", "exit 0")
        for name in ["aarch64", "i686", "s390x"]:
            self.add(f"{name}-linux-gnu-gcc", "exit 0")
        for target in TARGETS:
            (self.bin / "lib/rustlib" / target).mkdir(parents=True)
        self.add("uname", "echo x86_64")
        self.add("rustc", f"[[ $1 != --print ]] && echo 'rustc 1.95.0' || echo {self.bin}")
        done = self.run_setup("platforms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.bin / "log").exists())

    def test_its_own_processor_needs_no_emulator(self):
        self.add("uname", "echo aarch64")
        for name in ["i386", "s390x"]:
            self.add(f"qemu-{name}-static", "exit 0")
        for name in ["i686", "s390x"]:
            self.add(f"{name}-linux-gnu-gcc", "exit 0")
        for target in TARGETS:
            (self.bin / "lib/rustlib" / target).mkdir(parents=True)
        self.add("rustc", f"[[ $1 != --print ]] && echo 'rustc 1.95.0' || echo {self.bin}")
        done = self.run_setup("platforms")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_unknown_job(self):
        self.assert_dies(self.run_setup("everything"), "unknown job: everything")

    def test_no_job(self):
        self.assert_dies(self.run_setup(), "usage:")
