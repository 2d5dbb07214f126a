"""scripts/check-sizes measures what it says, and long files and functions do not pass."""

from fake import FakeRepository

LONG_FUNCTION = "fn long(a: [u8; 2]) -> u8 {\n" + "    a();\n" * 79 + "}\n"


class Sizes(FakeRepository):
    def check(self):
        return self.assert_passes("check-sizes", "--root", self.root)

    def refused(self, *expected):
        self.assert_refuses(expected, "check-sizes", "--root", self.root)

    def test_clean_tree_passes(self):
        self.assertIn("8 files (longest ", self.check())

    def test_no_source_is_no_pass(self):
        self.write(".gitignore", "*\n")
        self.refused("no source file found")

    def test_functions_are_measured(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION)
        self.assertIn("longest 81)", self.check())

    def test_long_file(self):
        self.write("crates/skein/src/table.rs", "// a line\n" * 601)
        self.refused("crates/skein/src/table.rs:1: 601 lines, more than 600")

    def test_long_script(self):
        self.write("scripts/long", "# a line\n" * 601)
        self.refused("scripts/long:1: 601 lines")

    def test_wide_prose(self):
        wide = "word " * 20 + "x"
        for name, mark in [("crates/skein/src/a.rs", "/// "), ("scripts/a", "# "), ("spec/a.md", "")]:
            self.write(name, f"{mark}{wide}\n")
            self.refused(f"{name}:1: {len(mark + wide)} columns of prose, more than 100")
            (self.root / name).unlink()

    def test_wide_tables_code_and_links_pass(self):
        wide = "word " * 30
        self.write("spec/a.md", f"| {wide} |\n```\n{wide}\n```\nhttps://{'x' * 100}\n")
        self.write("crates/skein/src/a.rs", f"//! | {wide} |\n//! ```\n//! {wide}\n//! ```\n")
        self.check()

    def test_prose_of_100_columns_passes(self):
        self.write("spec/a.md", "word " * 19 + "words\n")
        self.check()
