"""clippy, with the lints of this repository, refuses long or tangled functions and `unsafe`."""

import shutil
import subprocess

from fake import HERE, FakeRepository

LONG = "pub fn long() {\n" + "    std::hint::black_box(1);\n" * 81 + "}\n"
AT_THE_LIMIT = LONG.replace("    std::hint::black_box(1);\n", "", 1)
BRANCHES = "".join(f"    if a == {n} {{\n        c += b;\n    }}\n" for n in range(26))
TANGLED = f"pub fn tangled(a: u8, b: u8) -> u8 {{\n    let mut c = 0;\n{BRANCHES}    c\n}}\n"
UNSAFE = "pub fn f() -> u8 {\n    // SAFETY: no.\n    unsafe { std::ptr::null::<u8>().read() }\n}\n"


class Lints(FakeRepository):
    def clippy(self, source):
        """What clippy says of a crate with this source."""
        shutil.copy(HERE / "clippy.toml", self.root)
        self.write("crates/lanes/src/lib.rs", "//! A crate.\n" + source)
        command = ["cargo", "clippy", "--offline", "-qp", "sealstone-lanes", "--", "-Dwarnings"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        return done.stderr

    def test_a_function_at_the_limit_passes(self):
        said = self.clippy("/// A function.\n" + AT_THE_LIMIT)
        self.assertNotIn("error", said)

    def test_violations_are_refused(self):
        planted = [
            (LONG, "this function has too many lines (81/80)"),
            (TANGLED, "the function has a cognitive complexity of"),
            (UNSAFE, "usage of an `unsafe` block"),
        ]
        for source, expected in planted:
            self.assertIn(expected, self.clippy("/// A function.\n" + source))
