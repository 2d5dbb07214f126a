"""scripts/check-layers accepts the clean tree and catches every planted arrow and `unsafe`."""

from fake import DENY, FORBID, FakeRepository


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
        self.refused("crates/argon2/Cargo.toml:8: crates/argon2 (kernels) -> crates/skein (kernels) points sideways")

    def test_dev_dependency_upwards(self):
        self.append("crates/skein/Cargo.toml", "[dev-dependencies]\n" + self.dependency("sealstone") + "\n")
        self.refused("crates/skein/Cargo.toml:10: crates/skein (kernels) -> crates/sealstone (products) points upwards")

    def test_dev_dependency_on_itself_passes(self):
        self.append("crates/skein/Cargo.toml", "[dev-dependencies]\n" + self.dependency("skein") + "\n")
        self.check()

    def test_renamed_dependency_upwards(self):
        self.append("crates/skein/Cargo.toml", 'other = { package = "sealstone", path = "../sealstone" }\n')
        self.append("crates/skein/src/lib.rs", "use other::passport;\n")
        self.refused("crates/skein/Cargo.toml:9: ", f"crates/skein/src/lib.rs:{self.line_count('crates/skein/src/lib.rs')}: ")

    def test_use_path_upwards(self):
        self.append("crates/skein/src/lib.rs", "use {::sealstone::passport, std::fmt};\n")
        line = self.line_count("crates/skein/src/lib.rs")
        self.refused(f"crates/skein/src/lib.rs:{line}: crates/skein (kernels) -> crates/sealstone (products) points upwards")

    def test_inline_path_upwards(self):
        self.append("crates/skein/src/lib.rs", "fn f() { sealstone::passport::new() }\n")
        self.refused("crates/sealstone (products) points upwards")

    def test_extern_crate_upwards(self):
        self.append("crates/skein/src/lib.rs", "extern crate sealstone;\n")
        self.refused("crates/sealstone (products) points upwards")

    def test_names_that_only_look_like_a_crate_pass(self):
        self.append("crates/skein/src/lib.rs", "fn f(sealstone: u8) { x.sealstone::<u8>(); a::sealstone::b(); }\n")
        self.check()

    def test_source_of_another_crate(self):
        self.append("crates/skein/src/lib.rs", '#[path = "../../sealstone/src/wire.rs"]\nmod wire;\n')
        self.refused("wire.rs\" is outside crates/skein")

    def test_included_source_of_another_crate(self):
        self.append("crates/skein/src/lib.rs", 'include!("../../sealstone/src/wire.rs");\n')
        self.refused("wire.rs\" is outside crates/skein")

    def test_outside_crate_with_one_user(self):
        self.append("crates/sealstone/Cargo.toml", 'aws-lc-rs = "1"\n')
        self.refused("crates/sealstone/Cargo.toml:9: aws-lc-rs is for crates/primitives only")

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

    def test_unsafe_in_a_forbidden_crate(self):
        self.append("crates/skein/src/lib.rs", "fn f() { unsafe { g() } }\n")
        self.refused(f"crates/skein/src/lib.rs:{self.line_count('crates/skein/src/lib.rs')}: unsafe outside")

    def test_unsafe_attribute(self):
        self.append("crates/skein/src/lib.rs", "#[unsafe(no_mangle)]\nfn f() {}\n")
        self.refused("unsafe outside")

    def test_unsafe_in_a_test_file(self):
        self.write("crates/skein/tests/all.rs", "\nunsafe fn f() {}\n")
        self.refused("crates/skein/tests/all.rs:2: unsafe outside")

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
        self.append("crates/argon2/src/lib.rs", "fn f() { unsafe {} }\n")
        self.refused("crates/argon2/src/lib.rs:3: unsafe outside")


class Modules(FakeRepository):
    def refused(self, *expected):
        self.assert_refuses(expected, "check-layers", "--root", self.root)

    def test_module_upwards(self):
        self.append("crates/sealstone/src/wire.rs", "use crate::{\n    error,\n    passport::slot,\n};\n")
        self.refused("crates/sealstone/src/wire.rs:4: crate::passport::slot: module wire -> passport is no arrow downwards")

    def test_module_upwards_through_super(self):
        self.append("crates/sealstone/src/error.rs", "mod inner { fn f() { super::super::wire::g() } }\n")
        self.refused("crates/sealstone/src/error.rs:2: ", "module error -> wire")

    def test_module_upwards_through_a_reexport(self):
        self.append("crates/sealstone/src/lib.rs", "pub use passport::Passport;\n")
        self.append("crates/sealstone/src/wire.rs", "fn f(p: crate::Passport) {}\n")
        self.refused("crates/sealstone/src/wire.rs:2: crate::Passport: module wire -> passport")

    def test_everything_from_the_root(self):
        self.append("crates/sealstone/src/wire.rs", "use crate::*;\n")
        self.refused("crates/sealstone/src/wire.rs:2: crate::*: name the module that defines it")

    def test_unknown_module(self):
        self.write("crates/sealstone/src/extra.rs", FORBID)
        self.refused("crates/sealstone/src/extra.rs:1: unknown module extra")

    def test_visibility_is_no_use(self):
        self.append("crates/sealstone/src/wire.rs", "pub(in crate::passport) fn f() {}\n")
        self.assert_passes("check-layers", "--root", self.root)
