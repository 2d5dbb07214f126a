"""scripts/check-tree keeps stray documents, build residue and loose ends out."""

from fake import FakeRepository


class Tree(FakeRepository):
    def check(self):
        return self.assert_passes("check-tree", "--root", self.root)

    def refused(self, *expected):
        return self.assert_refuses(expected, "check-tree", "--root", self.root)

    def test_clean_tree_passes(self):
        self.assertIn("0 violations", self.check())

    def test_status_report_at_the_root(self):
        self.write("STATUS.md", "all done\n")
        self.refused("STATUS.md:1: no document of the design")

    def test_document_without_suffix(self):
        self.write("CERTIFICATE", "certified\n")
        self.refused("CERTIFICATE:1: no document of the design")

    def test_document_below_the_root_passes(self):
        self.write("spec/file.md", "# File\n")
        self.check()

    def test_missing_document(self):
        (self.root / "SECURITY.md").unlink()
        self.refused("SECURITY.md:1: missing")

    def test_committed_build_residue(self):
        self.write("target/debug/x", "")
        self.git("add", "--force", "target/debug/x")
        self.refused("target/debug/x:1: committed, though .gitignore names it")

    def test_symbolic_link(self):
        (self.root / "spec").mkdir(exist_ok=True)
        (self.root / "spec/tools").symlink_to("/usr/bin")
        self.git("add", "spec/tools")
        self.refused("spec/tools:1: a symbolic link")

    def test_only_links_of_golden_packages_pass(self):
        golden = "crates/sealstone/tests/golden"
        for name in (f"{golden}/package/link", "crates/sealstone/tests/link", f"{golden}s/link"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).symlink_to("target")
            self.git("add", name)
        told = self.refused("tests/link:1: a symbolic link", f"{golden}s/link:1")
        self.assertNotIn("golden/", told)

    def test_loose_end(self):
        self.append("crates/skein/src/lib.rs", "// TODO: think\n")
        self.refused(f"crates/skein/src/lib.rs:{self.line_count('crates/skein/src/lib.rs')}: a loose end")

    def test_stub(self):
        self.append("crates/skein/src/lib.rs", "fn f() { unimplemented!() }\n")
        self.refused("a stub")

    def test_ignored_test(self):
        self.append("crates/skein/src/lib.rs", '#[ignore]\n')
        self.refused("a test that is switched off")

    def test_swallowed_failure(self):
        self.write("scripts/do", "#!/bin/sh\nfalse || true\n")
        self.refused("scripts/do:2: a failure that is swallowed")

    def test_swallowed_failure_in_the_makefile(self):
        self.write("Makefile", "test:\n\tcargo test || :\n")
        self.refused("Makefile:2: a failure that is swallowed")

    def test_boolean_or_in_rust_passes(self):
        self.append("crates/skein/src/lib.rs", "fn f(a: bool) -> bool { a || true }\n")
        self.check()
