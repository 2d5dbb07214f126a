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

    def test_long_function(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION)
        line = self.line_count("crates/skein/src/lib.rs") - 80
        self.refused(f"crates/skein/src/lib.rs:{line}: fn long has 81 lines, more than 80")

    def test_function_at_the_limit_passes(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION.replace("    a();\n", "", 1))
        self.assertIn("longest 80)", self.check())

    def test_brace_in_a_string_ends_nothing(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION.replace("a();", '"}"; // }', 1))
        self.refused("fn long has 81 lines")

    def test_long_file(self):
        self.write("crates/skein/src/table.rs", "// a line\n" * 601)
        self.refused("crates/skein/src/table.rs:1: 601 lines, more than 600")

    def test_long_script(self):
        self.write("scripts/long", "# a line\n" * 601)
        self.refused("scripts/long:1: 601 lines")

    def test_exception_with_reason(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION)
        self.write("scripts/size-exceptions.txt", "crates/skein/src/lib.rs::long rounds as the standard prints them\n")
        self.check()

    def test_exception_without_reason(self):
        self.append("crates/skein/src/lib.rs", LONG_FUNCTION)
        self.write("scripts/size-exceptions.txt", "# why\ncrates/skein/src/lib.rs::long\n")
        self.refused("scripts/size-exceptions.txt:2: crates/skein/src/lib.rs::long has no reason")

    def test_exception_that_is_not_needed(self):
        self.write("scripts/size-exceptions.txt", "crates/skein/src/lib.rs::long rounds as printed\n")
        self.refused("crates/skein/src/lib.rs::long needs no exception any more")
