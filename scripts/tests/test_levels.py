"""scripts/prove-levels fails when one kernel at one level is not proved, not there, or not compared."""

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
COMBINATIONS = [f"{level}-{target}" for level in "123s" for target in ["x86-64", "x86-64-v3", "x86-64-v4"]]
PLANTED = "s-x86-64-v3"


def proofs(code):
    row = {
        "kernel": "Argon2 G",
        "instruction_set": "AVX2",
        "verdict": "PROVED",
        "reason": "",
        "residue": {"stack": 40},
        "sha256": code,
    }
    models = {"compared": True, "disagree": []}
    return {"only": "", "proved": True, "models": models, "kernels": [row, {**row, "kernel": "BLAKE2b F"}]}


class Levels(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="sealstone-levels-"))
        self.addCleanup(shutil.rmtree, self.directory)
        for name in COMBINATIONS:
            self.write(name, proofs(name))

    def write(self, name, content):
        (self.directory / name).mkdir(exist_ok=True)
        (self.directory / name / "proofs.json").write_text(json.dumps(content))

    def run_script(self):
        command = [HERE / "scripts/prove-levels", "--read", self.directory]
        return subprocess.run(command, capture_output=True, text=True)

    def refused(self, message, columns=None):
        """The script fails, says why, and the table has these numbers."""
        done = self.run_script()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(message, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        if columns:
            self.assertIn([*PLANTED.split("-", 1), *columns.split()], lines)

    def plant(self, **row):
        content = proofs(PLANTED)
        content["proved"] = False
        content["kernels"][1].update(row)
        self.write(PLANTED, content)

    def test_all_proved(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("every kernel is proved in 12 programs", done.stdout)
        self.assertEqual(done.stdout.count("\n"), 14)

    def test_one_kernel_is_refuted(self):
        self.plant(verdict="REFUTED", reason="wrong output in `out`")
        self.refused("s-x86-64-v3: BLAKE2b F AVX2: REFUTED: wrong output in `out`", "1 1 0 0 0 40")

    def test_one_kernel_is_not_proved(self):
        self.plant(verdict="UNPROVED", reason="3 bits")
        self.refused("UNPROVED: 3 bits", "1 0 1 0 0 40")

    def test_an_instruction_has_no_model(self):
        self.plant(verdict="UNSUPPORTED", reason="the instruction `bts rcx,3Fh`")
        self.refused("UNSUPPORTED: the instruction", "1 0 0 1 0 40")

    def test_the_compiler_has_left_no_function(self):
        self.plant(verdict="UNSUPPORTED", reason="there is no function sealstone_argon2::blake2b::engine::compress_on")
        self.refused("BLAKE2b F AVX2: UNSUPPORTED: there is no function", "1 0 0 0 1 40")

    def test_a_row_is_missing(self):
        content = proofs(PLANTED)
        content["kernels"].pop()
        self.write(PLANTED, content)
        self.refused("s-x86-64-v3: no row for BLAKE2b F AVX2")

    def test_nothing_was_proved(self):
        (self.directory / PLANTED / "proofs.json").unlink()
        self.refused("s-x86-64-v3: nothing was proved", "0 0 0 0 0 0")

    def test_only_a_part_was_proved(self):
        self.write(PLANTED, {**proofs(PLANTED), "only": "BLAKE2b"})
        self.refused("s-x86-64-v3: only a part")

    def test_models_were_not_compared(self):
        for models in [None, {"compared": False, "reason": "this CPU has no AVX-512"}]:
            self.write(PLANTED, {**proofs(PLANTED), "models": models})
            self.refused("s-x86-64-v3: the models were not compared with this CPU")

    def test_a_model_is_wrong(self):
        self.write(PLANTED, {**proofs(PLANTED), "models": {"compared": True, "disagree": ["bts rcx,3Fh"]}})
        self.refused("s-x86-64-v3: wrong models: bts rcx,3Fh")

    def test_the_prover_says_no(self):
        self.write(PLANTED, {**proofs(PLANTED), "proved": False})
        self.refused("s-x86-64-v3: the prover says that this is no proof")

    def test_the_level_was_not_applied(self):
        self.write(PLANTED, proofs("s-x86-64"))
        self.refused("s-x86-64-v3: the same code as s-x86-64")
