"""scripts/check-dependencies refuses banned crates, licences and sources, and is honest about advisories."""

import os

from fake import FakeRepository

BANNED = ["bincode", "openssl-sys", "rsa", "sled"]


class Dependencies(FakeRepository):
    def setUp(self):
        super().setUp()
        for name in ["CARGO_HOME", "SEALSTONE_ADVISORIES"]:
            self.addCleanup(restore, name, os.environ.get(name))

    def check(self):
        return self.assert_passes("check-dependencies", self.root / "Cargo.toml")

    def refused(self, *expected):
        self.assert_refuses(expected, "check-dependencies", self.root / "Cargo.toml")

    def depend_on(self, name, package_lines, source=None):
        """Makes `skein` depend on a crate of that name, outside the workspace's members."""
        self.write(f"outside/{name}/Cargo.toml", f'[package]\nname = "{name}"\nversion = "1.0.0"\n{package_lines}\n')
        self.write(f"outside/{name}/src/lib.rs", "")
        source = source or f'path = "../../outside/{name}"'
        self.append("crates/skein/Cargo.toml", f'{name} = {{ version = "1", {source} }}\n')

    def test_clean_tree_passes(self):
        self.assertIn("bans ok, licenses ok, sources ok", self.check())

    def test_permissive_licence_passes(self):
        self.depend_on("fine", 'license = "ISC"')
        self.check()

    def test_banned_crates(self):
        for name in BANNED:
            self.depend_on(name, 'license = "MIT"')
        self.refused("bans FAILED", *(f"crate '{name} = 1.0.0' is explicitly banned" for name in BANNED))

    def test_only_primitives_depends_on_aws_lc(self):
        self.depend_on("aws-lc-sys", 'license = "MIT"')
        self.refused("bans FAILED", "aws-lc-sys")

    def test_copyleft_licence(self):
        self.depend_on("free", 'license = "GPL-3.0-only"')
        self.refused("GPL-3.0-only", "licenses FAILED")

    def test_no_licence(self):
        self.depend_on("nothing", "")
        self.refused("error[unlicensed]", "licenses FAILED")

    def test_unknown_source(self):
        repository = self.root / "outside/elsewhere"
        self.depend_on("elsewhere", 'license = "MIT"\n[workspace]', f'git = "file://{repository}"')
        self.git("init", "--quiet", repository)
        self.git("-C", repository, "add", ".")
        self.git("-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
        self.refused("error[source-not-allowed]", "sources FAILED")

    def test_advisories_that_cannot_be_had_are_not_claimed(self):
        os.environ["CARGO_HOME"] = str(self.root / "empty")
        os.environ["PATH"], path = self.path_without_git(), os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", path)
        self.assertIn("advisories NOT CHECKED", self.check())
        os.environ["SEALSTONE_ADVISORIES"] = "require"
        self.refused("advisories are required")

    def path_without_git(self):
        """A PATH on which fetching fails at once, whatever the machine can reach."""
        self.write("bin/git", "#!/bin/sh\nexit 1\n")
        (self.root / "bin/git").chmod(0o755)
        return f"{self.root / 'bin'}:{os.environ['PATH']}"


def restore(name, value):
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
