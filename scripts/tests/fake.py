"""A tiny repository of the same shape as this one, to plant violations in."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]

FORBID = "#![forbid(unsafe_code)]\n"
# Of a crate that has `unsafe` in one file.
DENY = "#![deny(unsafe_code)]\n"
DOCUMENTS = ["README", "ASSURANCE", "SECURITY", "CONTRIBUTING", "CHANGELOG"]

# What the gates must not stumble over: paths in comments, strings and raw strings.
INNOCENT = '''//! use crate::passport in a comment
/* crate::passport */
const A: &str = "crate::passport \\" crate::passport";
const B: &str = r#"crate::passport " "#;
const C: char = '"';
'''


def lints():
    """The lints of this repository."""
    manifest = (HERE / "Cargo.toml").read_text(encoding="utf-8")
    start = manifest.index("[workspace.lints.rust]")
    return manifest[start : manifest.index("[profile", start)]


class FakeRepository(unittest.TestCase):
    """Each test gets a clean repository that every gate accepts, and changes it."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="sealstone-gate-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("Cargo.toml", '[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n' + lints())
        self.write(".gitignore", "/target/\n")
        for name in DOCUMENTS:
            self.write(f"{name}.md", f"# {name}\n")
        for name in ["LICENSE-APACHE", "LICENSE-MIT"]:
            self.write(name, "a licence\n")
        self.add_crate("lanes", source="pub fn word() { unsafe {} }\n")
        self.add_crate("skein", ["lanes"], FORBID)
        self.add_crate("sealstone", ["skein"], FORBID + "mod error;\nmod wire;\npub mod passport;\npub use error::Error;\n")
        self.write("crates/sealstone/src/error.rs", "pub struct Error;\n")
        self.write("crates/sealstone/src/wire.rs", INNOCENT + "use crate::Error;\n")
        self.write("crates/sealstone/src/passport.rs", "mod slot;\nuse crate::{Error, wire};\n")
        self.write("crates/sealstone/src/passport/slot.rs", "use super::super::wire;\nuse super::Error;\n")
        self.add_crate("cli", ["sealstone"], FORBID + "fn main() { sealstone::passport::new() }\n", root="main.rs")
        subprocess.run(["git", "init", "--quiet", self.root], check=True)

    def add_crate(self, name, below=(), source=FORBID, root="lib.rs", directory="crates"):
        package = "sealstone" if name == "sealstone" else f"sealstone-{name}"
        lines = [
            "[package]",
            f'name = "{package}"',
            'version = "0.1.0"',
            'edition = "2024"',
            'license = "MIT"',
            "publish = false",
            *(["[lints]", "workspace = true"] if directory == "crates" else []),
            "[dependencies]",
            *(self.dependency(other) for other in below),
        ]
        self.write(f"{directory}/{name}/Cargo.toml", "\n".join(lines) + "\n")
        self.write(f"{directory}/{name}/src/{root}", source)

    @staticmethod
    def dependency(name):
        package = "sealstone" if name == "sealstone" else f"sealstone-{name}"
        return f'{package} = {{ path = "../{name}" }}'

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def append(self, name, text):
        with (self.root / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True)

    def line_count(self, name):
        return len((self.root / name).read_text(encoding="utf-8").splitlines())

    def run_gate(self, gate, *arguments):
        command = [HERE / "scripts" / gate, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=self.root)

    def assert_passes(self, gate, *arguments):
        done = self.run_gate(gate, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def assert_refuses(self, expected, gate, *arguments):
        """The gate fails with a message that contains every one of `expected`: the message."""
        done = self.run_gate(gate, *arguments)
        told = done.stdout + done.stderr
        self.assertNotEqual(done.returncode, 0, told)
        for text in expected:
            self.assertIn(text, told)
        return told
