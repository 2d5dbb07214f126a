"""scripts/check-features notices when the prover changes what the command is made of."""

from fake import FakeRepository


class Features(FakeRepository):
    def setUp(self):
        super().setUp()
        self.append("crates/lanes/Cargo.toml", '[features]\nwide = []\nwider = ["wide"]\n')
        self.add_crate("proofs", ["lanes"])

    def check(self):
        return self.assert_passes("check-features", "--root", self.root)

    def refused(self, *expected):
        self.assert_refuses(expected, "check-features", "--root", self.root)

    def ask_for(self, crate, features, package="sealstone-lanes", table="dependencies"):
        """Makes a crate ask for features of another one, which it may depend on already."""
        name = f"crates/{crate}/Cargo.toml"
        lines = (self.root / name).read_text().splitlines(keepends=True)
        self.write(name, "".join(line for line in lines if not line.startswith(package)))
        directory = package.removeprefix("sealstone-")
        self.append(name, f'[{table}.{package}]\npath = "../{directory}"\nfeatures = {features}\n')

    def test_clean_tree_passes(self):
        self.assertIn("4 packages of sealstone-cli, alone and with sealstone-proofs, 0 violations", self.check())

    def test_a_feature_that_only_the_prover_asks_for(self):
        self.ask_for("proofs", '["wide"]')
        self.refused("sealstone-lanes v0.1.0", "has the features none in the command, and wide where sealstone-proofs", "1 violations")

    def test_one_more_feature(self):
        self.ask_for("skein", '["wide"]')
        self.ask_for("proofs", '["wider"]')
        self.refused("has the features wide in the command, and wide,wider where", "1 violations")

    def test_a_feature_that_both_ask_for_passes(self):
        self.ask_for("skein", '["wide"]')
        self.ask_for("proofs", '["wide"]')
        self.check()

    def test_what_only_tests_of_the_prover_ask_for_passes(self):
        self.ask_for("proofs", '["wide"]', table="dev-dependencies")
        self.check()

    def test_a_package_that_only_the_prover_has_passes(self):
        self.add_crate("argon2")
        self.append("crates/argon2/Cargo.toml", "[features]\nwide = []\n")
        self.ask_for("proofs", '["wide"]', package="sealstone-argon2")
        self.check()

    def test_a_repository_without_a_command(self):
        (self.root / "crates/cli/Cargo.toml").write_text('[package]\nname = "other"\nversion = "0.1.0"\nedition = "2024"\n')
        self.refused("cargo tree failed")
