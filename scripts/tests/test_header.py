"""scripts/header passes the header that is committed, and sees a crate that differs from it."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
# In the sources of the crate: what is there, and what a change makes of it.
CHANGES = [
    ("argon2.rs", "pub passes: u32,", "pub passes: u64,"),
    ("argon2.rs", "    salt: *const u8,", "    salt: *mut u8,"),
    ("status.rs", "pub const ALTERED: Status = 6;", "pub const ALTERED: Status = 7;"),
    ("buffer.rs", "#[unsafe(no_mangle)]\n", ""),
    ("skein.rs", "/// Adds bytes to the message.", "/// Adds words to the message."),
    ("token.rs", "pub struct Tokens(", "#[repr(C)]\npub struct Tokens("),
]


class Header(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="sealstone-header-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)
        ignored = shutil.ignore_patterns("tests", "target")
        for name in ["crates", "xtask"]:
            shutil.copytree(HERE / name, self.root / name, ignore=ignored)
        for name in ["Cargo.toml", "Cargo.lock"]:
            shutil.copy(HERE / name, self.root / name)

    def check(self):
        command = [HERE / "scripts/header", "--check", self.root / "crates/capi"]
        return subprocess.run(command, capture_output=True, text=True)

    def test_what_is_committed_is_right(self):
        done = self.check()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_each_difference_is_noticed(self):
        for name, old, new in CHANGES:
            source = self.root / "crates/capi/src" / name
            text = source.read_text(encoding="utf-8")
            self.assertIn(old, text)
            source.write_text(text.replace(old, new, 1), encoding="utf-8")
            done = self.check()
            self.assertEqual(done.returncode, 1, f"{name}: {old}")
            self.assertIn("run scripts/header", done.stderr)
            source.write_text(text, encoding="utf-8")
