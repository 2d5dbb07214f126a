//! The vectors of RFC 9497 appendix A, and other vectors in the same form.

#[path = "shared/common.rs"]
mod common;

use common::{bytes, files, hex, list, name, number, read, text};
use sealstone_token::voprf::{
    Blinded, Evaluated, Mode, P256Sha256, P384Sha384, PrivateKey, Proof, Ristretto255Sha512, Suite,
    oblivious, partial, verifiable,
};
use serde_json::Value;

/// Appendix A, as the RFC prints it, for the suites that are offered here.
#[test]
fn the_vectors_of_the_rfc() {
    let groups: Vec<Value> =
        serde_json::from_str(include_str!("rfc9497.json")).expect("a list of groups");
    let (cases, left_out) = run_all(&groups);
    assert_eq!((cases, left_out), (24, 0));
    println!("OPRF, VOPRF and POPRF, RFC 9497 appendix A: {cases} cases, 0 disagreements");
}

/// Other files in the same form.
#[test]
fn vectors_of_others() {
    for file in files("voprf", "").unwrap_or_default() {
        let (cases, left_out) = run_all(&read(&file));
        assert!(cases > 0, "{}: no case", file.display());
        println!(
            "{}: {cases} cases agree, {left_out} are of suites that are not offered",
            name(&file)
        );
    }
}

/// The numbers of cases that ran, and of cases for suites that Sealstone does not support.
fn run_all(groups: &[Value]) -> (usize, usize) {
    let (mut cases, mut left_out) = (0, 0);
    for group in groups {
        let vectors = list(group, "vectors").len();
        let run = match text(group, "identifier") {
            "P256-SHA256" => run::<P256Sha256>,
            "P384-SHA384" => run::<P384Sha384>,
            "ristretto255-SHA512" => run::<Ristretto255Sha512>,
            "decaf448-SHAKE256" | "P521-SHA512" => {
                left_out += vectors;
                continue;
            }
            other => panic!("unknown suite {other}"),
        };
        run(group);
        cases += vectors;
    }
    (cases, left_out)
}

fn run<S: Suite>(group: &Value) {
    let mode = match number(group, "mode") {
        0 => Mode::Oblivious,
        1 => Mode::Verifiable,
        2 => Mode::PartiallyOblivious,
        other => panic!("mode {other}"),
    };
    let seed: [u8; 32] = bytes(group, "seed").try_into().expect("a seed of 32 bytes");
    let key = || PrivateKey::<S>::derive(mode, &seed, &bytes(group, "keyInfo")).expect("a key");
    assert_eq!(key().encode().expose(), bytes(group, "skSm"));
    if mode != Mode::Oblivious {
        assert_eq!(key().public_key().as_bytes(), bytes(group, "pkSm"));
    }
    for vector in list(group, "vectors") {
        let case = Case::new(vector);
        match mode {
            Mode::Oblivious => case.oblivious(&oblivious::Server::<S>::new(key())),
            Mode::Verifiable => case.verifiable(&verifiable::Server::<S>::new(key())),
            Mode::PartiallyOblivious => case.partial(&partial::Server::<S>::new(key())),
        }
    }
}

struct Case<'a> {
    vector: &'a Value,
    inputs: Vec<Vec<u8>>,
    blinds: Vec<Vec<u8>>,
    blinded: Vec<Vec<u8>>,
    evaluated: Vec<Vec<u8>>,
    outputs: Vec<Vec<u8>>,
}

impl<'a> Case<'a> {
    fn new(vector: &'a Value) -> Self {
        let row = |field| text(vector, field).split(',').map(hex).collect::<Vec<_>>();
        let case = Self {
            vector,
            inputs: row("Input"),
            blinds: row("Blind"),
            blinded: row("BlindedElement"),
            evaluated: row("EvaluationElement"),
            outputs: row("Output"),
        };
        assert_eq!(case.inputs.len() as u64, number(vector, "Batch"));
        case
    }

    fn proof(&self) -> (Vec<u8>, Vec<u8>) {
        let proof = &self.vector["Proof"];
        (bytes(proof, "proof"), bytes(proof, "r"))
    }

    fn oblivious<S: Suite>(&self, server: &oblivious::Server<S>) {
        let client = oblivious::Client::<S>::blind_with(&all(&self.inputs), &all(&self.blinds))
            .expect("inputs and blinds");
        let evaluated = server.evaluate(client.blinded()).expect("a batch");
        self.sent(client.blinded(), &evaluated);
        let outputs = client.finalize(&evaluated).expect("outputs");
        for ((output, expected), input) in outputs.iter().zip(&self.outputs).zip(&self.inputs) {
            assert_eq!(output.as_bytes(), expected);
            assert_eq!(*output, server.evaluate_alone(input).expect("an output"));
        }
    }

    fn verifiable<S: Suite>(&self, server: &verifiable::Server<S>) {
        let key = server.key().public_key();
        let client = verifiable::Client::blind_again(key, &all(&self.inputs), &all(&self.blinds))
            .expect("inputs and blinds");
        let (expected, nonce) = self.proof();
        let (evaluated, proof) = server
            .evaluate_with(client.blinded(), &nonce)
            .expect("a batch");
        self.sent(client.blinded(), &evaluated);
        assert_eq!(proof.encode(), expected);
        let proof = Proof::decode(&expected).expect("a proof");
        let outputs = client.finalize(&evaluated, &proof).expect("outputs");
        for ((output, expected), input) in outputs.iter().zip(&self.outputs).zip(&self.inputs) {
            assert_eq!(output.as_bytes(), expected);
            assert_eq!(*output, server.evaluate_alone(input).expect("an output"));
        }
    }

    fn partial<S: Suite>(&self, server: &partial::Server<S>) {
        let key = server.key().public_key();
        let info = bytes(self.vector, "Info");
        let (inputs, blinds) = (all(&self.inputs), all(&self.blinds));
        let client =
            partial::Client::blind_with(key, &info, &inputs, &blinds).expect("inputs and blinds");
        let (expected, nonce) = self.proof();
        let (evaluated, proof) = server
            .evaluate_with(client.blinded(), &info, &nonce)
            .expect("a batch");
        self.sent(client.blinded(), &evaluated);
        assert_eq!(proof.encode(), expected);
        let proof = Proof::decode(&expected).expect("a proof");
        let outputs = client.finalize(&evaluated, &proof).expect("outputs");
        for ((output, expected), input) in outputs.iter().zip(&self.outputs).zip(&self.inputs) {
            assert_eq!(output.as_bytes(), expected);
            assert_eq!(
                *output,
                server.evaluate_alone(input, &info).expect("an output")
            );
        }
    }

    /// Messages in both directions, encoded and decoded again.
    fn sent<S: Suite>(&self, blinded: &[Blinded<S>], evaluated: &[Evaluated<S>]) {
        let bytes = |row: &[Blinded<S>]| row.iter().map(|e| e.as_bytes().to_vec()).collect();
        let blinded_bytes: Vec<Vec<u8>> = bytes(blinded);
        let evaluated_bytes: Vec<Vec<u8>> =
            evaluated.iter().map(|e| e.as_bytes().to_vec()).collect();
        assert_eq!(blinded_bytes, self.blinded);
        assert_eq!(evaluated_bytes, self.evaluated);
        assert!(Blinded::<S>::decode_all(&blinded_bytes.concat()).expect("elements") == blinded);
        assert!(
            Evaluated::<S>::decode_all(&evaluated_bytes.concat()).expect("elements") == evaluated
        );
    }
}

fn all(row: &[Vec<u8>]) -> Vec<&[u8]> {
    row.iter().map(Vec::as_slice).collect()
}
