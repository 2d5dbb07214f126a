"""scripts/check-shell fails on a shell program that shellcheck objects to."""

from fake import FakeRepository


class Shell(FakeRepository):
    def test_this_repository_passes(self):
        self.assertIn("no findings", self.assert_passes("check-shell"))

    def test_unquoted_variable(self):
        self.write("bad", "#!/usr/bin/env bash\nrm -r $1\n")
        self.assert_refuses(["SC2086"], "check-shell", self.root / "bad")
