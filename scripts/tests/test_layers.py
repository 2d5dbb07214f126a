"""scripts/check-layers accepts the clean tree and catches every planted arrow and `unsafe`."""

from fake import DENY, FORBID, FakeRepository


WIRE = "crates/sealstone/src/wire.rs"


class Layers(FakeRepository):
    def check(self):
        return self.assert_passes("check-layers", "--root", self.root)

    def refused(self, *expected):
        self.assert_refuses(expected, "check-layers", "--root", self.root)

    def test_clean_tree_passes(self):
        self.assertIn("4 crates, 8 files, 0 violations", self.check())

    def test_no_crates_is_no_pass(self):
        self.write("Cargo.toml", "[workspace]\nmembers = []\n")
        self.refused("no crate found")

    def test_dependency_upwards(self):
        self.append("crates/lanes/Cargo.toml", self.dependency("skein") + "\n")
        line = self.line_count("crates/lanes/Cargo.toml")
        self.refused(f"crates/lanes/Cargo.toml:{line}: crates/lanes (words) -> crates/skein (kernels) points upwards")

    def test_dependency_sideways(self):
        self.add_crate("argon2", ["skein"], "#![deny(unsafe_code)]\n")
        self.refused("crates/argon2/Cargo.toml:10: crates/argon2 (kernels) -> crates/skein (kernels) points sideways")

    def test_dev_dependency_upwards(self):
        self.append("crates/skein/Cargo.toml", "[dev-dependencies]\n" + self.dependency("sealstone") + "\n")
        self.refused("crates/skein/Cargo.toml:12: crates/skein (kernels) -> crates/sealstone (products) points upwards")

    def test_dev_dependency_on_itself_passes(self):
        self.append("crates/skein/Cargo.toml", "[dev-dependencies]\n" + self.dependency("skein") + "\n")
        self.check()

    def test_renamed_dependency_upwards(self):
        self.append("crates/skein/Cargo.toml", 'other = { package = "sealstone", path = "../sealstone" }\n')
        self.refused("crates/skein/Cargo.toml:", "crates/sealstone (products) points upwards")

    def test_unknown_crate(self):
        self.add_crate("extra")
        self.refused("crates/extra/Cargo.toml:1: unknown crate")

    def test_checks_are_used_by_nobody(self):
        self.add_crate("proofs")
        self.append("crates/cli/Cargo.toml", self.dependency("proofs") + "\n")
        self.refused("crates/cli (apps) -> crates/proofs (checks) points upwards")

    def test_a_crate_for_tests_is_a_dev_dependency_only(self):
        self.add_crate("testing")
        self.append("crates/skein/Cargo.toml", "[dev-dependencies]\n" + self.dependency("testing") + "\n")
        self.check()
        self.append("crates/lanes/Cargo.toml", self.dependency("testing") + "\n")
        self.refused("crates/testing is for tests only, a dev-dependency")

    def test_other_workspaces_are_read(self):
        self.add_crate("bench", source="", directory=".")
        self.append("bench/Cargo.toml", "[workspace]\n")
        self.refused("bench/src/lib.rs:1: lacks #![forbid(unsafe_code)]")


class Unsafe(FakeRepository):
    def refused(self, *expected):
        self.assert_refuses(expected, "check-layers", "--root", self.root)

    def test_unsafe_let_in_outside_its_places(self):
        for level in ["allow", "expect", "warn"]:
            self.write("crates/skein/tests/all.rs", f"\n#![{level}(unsafe_code)]\n")
            self.refused("crates/skein/tests/all.rs:2: unsafe outside")

    def test_a_crate_without_the_lints(self):
        manifest = (self.root / "crates/skein/Cargo.toml").read_text()
        self.write("crates/skein/Cargo.toml", manifest.replace("workspace = true", ""))
        self.refused("crates/skein/Cargo.toml:1: lacks the lints of the workspace")

    def test_missing_forbid(self):
        self.write("crates/sealstone/src/lib.rs", "// #![forbid(unsafe_code)]\n")
        self.refused("crates/sealstone/src/lib.rs:1: lacks #![forbid(unsafe_code)]")

    def test_missing_forbid_in_a_program(self):
        self.write("crates/skein/src/bin/other.rs", "fn main() {}\n")
        self.refused("crates/skein/src/bin/other.rs:1: lacks #![forbid(unsafe_code)]")

    def test_deny_is_not_forbid(self):
        self.write("crates/skein/src/lib.rs", DENY)
        self.refused("crates/skein/src/lib.rs:1: lacks #![forbid(unsafe_code)]")

    def test_place_inside_a_crate(self):
        self.add_crate("argon2", ["lanes"], DENY + "mod pages;\n")
        self.write("crates/argon2/src/pages/linux.rs", "#![allow(unsafe_code)]\nfn f() { unsafe {} }\n")
        self.assert_passes("check-layers", "--root", self.root)
        self.write("crates/argon2/src/other.rs", "#![allow(unsafe_code)]\n")
        self.refused("crates/argon2/src/other.rs:1: unsafe outside")


class Modules(FakeRepository):
    def refused(self, *expected):
        self.assert_refuses(expected, "check-layers", "--root", self.root)

    def test_module_upwards(self):
        self.append("crates/sealstone/src/wire.rs", "use crate::{error, passport::slot};\n")
        self.refused(f"crates/sealstone/src/wire.rs:{self.line_count(WIRE)}: crate::passport: module wire -> passport is no arrow downwards")

    def test_module_upwards_through_super(self):
        self.append("crates/sealstone/src/error.rs", "fn f() { super::wire::g() }\n")
        self.refused("crates/sealstone/src/error.rs:2: ", "module error -> wire")

    def test_module_upwards_through_a_reexport(self):
        self.append("crates/sealstone/src/lib.rs", "pub use passport::Passport;\n")
        self.append("crates/sealstone/src/wire.rs", "fn f(p: crate::Passport) {}\n")
        self.refused(f"crates/sealstone/src/wire.rs:{self.line_count(WIRE)}: crate::Passport: module wire -> passport")

    def test_everything_from_the_root(self):
        self.append("crates/sealstone/src/wire.rs", "use crate::*;\n")
        self.refused(f"crates/sealstone/src/wire.rs:{self.line_count(WIRE)}: crate::*: name the module that defines it")

    def test_unknown_module(self):
        self.write("crates/sealstone/src/extra.rs", FORBID)
        self.refused("crates/sealstone/src/extra.rs:1: unknown module extra")

    def test_the_file_of_a_nested_module_is_no_other_module(self):
        self.append("crates/sealstone/src/error.rs", "mod tests {\n    use super::wire;\n}\n")
        self.assert_passes("check-layers", "--root", self.root)

    def test_visibility_is_no_use(self):
        self.append("crates/sealstone/src/wire.rs", "pub(in crate::passport) fn f() {}\n")
        self.assert_passes("check-layers", "--root", self.root)
