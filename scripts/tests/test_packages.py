"""scripts/packages with stand-ins for Python and npm."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

# Makes an environment whose pip records how it was called, and fails if the list says so.
PYTHON = """#!/bin/sh
echo "python $*" >>"$LOG"
mkdir -p "$3/bin"
printf '#!/bin/sh\\necho "pip $*" >>"$LOG"\\n! grep -q broken requirements.txt\\n' >"$3/bin/pip"
chmod +x "$3/bin/pip"
"""
NPM = """#!/bin/sh
echo "npm $*, of $(cat package.json)" >>"$LOG"
"""


class Packages(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="sealstone-packages-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("scripts/packages", (HERE / "scripts/packages").read_text(encoding="utf-8"))
        self.write("bin/python3", PYTHON)
        self.write("bin/npm", NPM)
        self.write("requirements.txt", "one==1\n")
        self.write("package.json", "{}")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run_here(self, *arguments):
        log = self.root / "log"
        log.unlink(missing_ok=True)
        environment = {"PATH": f"{self.root}/bin:/usr/bin:/bin", "LOG": str(log)}
        command = [self.root / "scripts/packages", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return done, log.read_text(encoding="utf-8") if log.exists() else ""

    def assert_installs(self, *arguments):
        done, log = self.run_here(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, f"packages: installing those of {arguments[1]} into {arguments[0]}\n")
        return log

    def assert_does_nothing(self, *arguments):
        done, log = self.run_here(*arguments)
        self.assertEqual((done.returncode, done.stderr, log), (0, "", ""))

    def test_python_packages_are_installed_once(self):
        log = self.assert_installs("env", "requirements.txt")
        self.assertIn("python -m venv env\npip install ", log)
        self.assertIn("--requirement requirements.txt\n", log)
        self.assert_does_nothing("env", "requirements.txt")

    def test_another_list_makes_the_directory_anew(self):
        self.assert_installs("env", "requirements.txt")
        self.write("env/of-the-old-list", "")
        self.write("requirements.txt", "two==2\n")
        self.assert_installs("env", "requirements.txt")
        self.assertFalse((self.root / "env/of-the-old-list").exists())

    def test_what_failed_is_begun_again(self):
        self.write("requirements.txt", "broken==1\n")
        for _ in range(2):
            done, log = self.run_here("env", "requirements.txt")
            self.assertEqual(done.returncode, 1)
            self.assertIn("pip install", log)

    def test_another_interpreter(self):
        self.write("bin/python9", PYTHON.replace("python $*", "nine $*"))
        self.assertIn("nine -m venv env\n", self.assert_installs("env", "requirements.txt", "python9"))

    def test_npm_packages_are_installed_once(self):
        log = self.assert_installs("modules", "package.json")
        self.assertRegex(log, "^npm install .*--ignore-scripts .*, of {}\n$")
        self.assert_does_nothing("modules", "package.json")

    def test_npm_is_missing(self):
        (self.root / "bin/npm").unlink()
        # Nothing of this machine's own programs but these.
        for name in ["cmp", "dirname", "mkdir", "rm"]:
            (self.root / "bin" / name).symlink_to(shutil.which(name))
        environment = {"PATH": f"{self.root}/bin"}
        command = [self.root / "scripts/packages", "modules", "package.json"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("packages: npm is missing: run scripts/setup test\n", done.stderr)

    def test_another_kind_of_list(self):
        done, _ = self.run_here("env", "Cargo.lock")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Cargo.lock is neither", done.stderr)

    def test_no_list(self):
        done, _ = self.run_here("env")
        self.assertEqual(done.returncode, 1)
        self.assertIn("usage:", done.stderr)
