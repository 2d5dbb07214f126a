//! One protocol run in each mode and suite, both ways.

use sealstone_token::voprf::{
    Blinded, Evaluated, Output, P256Sha256, P384Sha384, Proof, Ristretto255Sha512, oblivious,
    partial, verifiable,
};
use voprf::Group;

use crate::case::{Case, Random};

/// Every mode of every suite.
pub(crate) const RUNS: [fn(&Case, &mut Random); 9] = [
    p256::oblivious,
    p256::verifiable,
    p256::partial,
    p384::oblivious,
    p384::verifiable,
    p384::partial,
    ristretto255::oblivious,
    ristretto255::verifiable,
    ristretto255::partial,
];

/// Concatenated encodings.
macro_rules! row {
    ($elements:expr) => {
        $elements
            .iter()
            .flat_map(|e| e.as_bytes().to_vec())
            .collect::<Vec<u8>>()
    };
}

/// The elements of the peer's `$kind`, decoded from a row of encodings.
macro_rules! theirs {
    ($kind:ident, $row:expr, $len:expr) => {
        $row.chunks($len)
            .map(|bytes| voprf::$kind::<Peer>::deserialize(bytes).expect("an element"))
            .collect::<Vec<_>>()
    };
}

/// The peer's elements as one row of encodings.
macro_rules! serialized {
    ($elements:expr) => {
        $elements
            .flat_map(|e| e.serialize().to_vec())
            .collect::<Vec<u8>>()
    };
}

/// The peer's client: its states, and its blinded elements as bytes.
macro_rules! blind {
    ($client:ident, $case:expr, $random:expr) => {{
        let results: Vec<_> = $case
            .inputs
            .iter()
            .map(|input| voprf::$client::<Peer>::blind(input, $random).expect("an input"))
            .collect();
        let row = serialized!(results.iter().map(|result| &result.message));
        let states: Vec<_> = results.into_iter().map(|result| result.state).collect();
        (states, row)
    }};
}

/// A module with the runs of one suite. The peer's bounds on types are longer than this macro.
macro_rules! suite {
    ($module:ident, $peer:ty, $ours:ty) => {
        mod $module {
            use super::*;

            type Peer = $peer;
            type Ours = $ours;

            pub(crate) fn oblivious(case: &Case, random: &mut Random) {
                let ours =
                    oblivious::Server::<Ours>::derive(&case.seed, &case.key_info).expect("a key");
                let theirs = voprf::OprfServer::<Peer>::new_from_seed(&case.seed, &case.key_info)
                    .expect("a key");
                let expected: Vec<_> = case
                    .inputs()
                    .iter()
                    .map(|input| theirs.evaluate(input).expect("an output").to_vec())
                    .collect();
                let alone = |input: &&[u8]| ours.evaluate_alone(input).expect("an output");
                same(
                    case,
                    &case.inputs().iter().map(alone).collect::<Vec<_>>(),
                    &expected,
                );

                let (states, blinded) = blind!(OprfClient, case, random);
                let blinded = Blinded::<Ours>::decode_all(&blinded).expect("elements");
                let evaluated = row!(ours.evaluate(&blinded).expect("a batch"));
                let evaluated = theirs!(EvaluationElement, evaluated, Blinded::<Ours>::LEN);
                for (index, state) in states.iter().enumerate() {
                    let output = state.finalize(&case.inputs[index], &evaluated[index]);
                    assert_eq!(output.expect("an output")[..], expected[index], "{case:?}");
                }

                let client = oblivious::Client::<Ours>::blind(&case.inputs()).expect("inputs");
                let blinded = row!(client.blinded());
                let blinded = theirs!(BlindedElement, blinded, Blinded::<Ours>::LEN);
                let evaluated = blinded.iter().map(|element| theirs.blind_evaluate(element));
                let evaluated = Evaluated::decode_all(&serialized!(evaluated)).expect("elements");
                same(
                    case,
                    &client.finalize(&evaluated).expect("outputs"),
                    &expected,
                );
            }

            pub(crate) fn verifiable(case: &Case, random: &mut Random) {
                let ours =
                    verifiable::Server::<Ours>::derive(&case.seed, &case.key_info).expect("a key");
                let theirs = voprf::VoprfServer::<Peer>::new_from_seed(&case.seed, &case.key_info)
                    .expect("a key");
                let key = theirs.get_public_key();
                let public = ours.key().public_key();
                assert_eq!(
                    Peer::serialize_elem(key)[..],
                    *public.as_bytes(),
                    "{case:?}"
                );
                let expected: Vec<_> = case
                    .inputs()
                    .iter()
                    .map(|input| theirs.evaluate(input).expect("an output").to_vec())
                    .collect();
                let alone = |input: &&[u8]| ours.evaluate_alone(input).expect("an output");
                same(
                    case,
                    &case.inputs().iter().map(alone).collect::<Vec<_>>(),
                    &expected,
                );

                let (states, blinded) = blind!(VoprfClient, case, random);
                let blinded = Blinded::<Ours>::decode_all(&blinded).expect("elements");
                let (evaluated, proof) = ours.evaluate(&blinded).expect("a batch");
                let evaluated = row!(evaluated);
                let evaluated = theirs!(EvaluationElement, evaluated, Blinded::<Ours>::LEN);
                let proof = voprf::Proof::deserialize(&proof.encode()).expect("a proof");
                if let ([state], [input]) = (&states[..], &case.inputs()[..]) {
                    let output = state.finalize(input, &evaluated[0], &proof, key);
                    assert_eq!(output.expect("an output")[..], expected[0], "{case:?}");
                }
                let inputs = case.inputs();
                let outputs =
                    voprf::VoprfClient::batch_finalize(&inputs, &states, &evaluated, &proof, key);
                for (output, expected) in outputs.expect("a valid proof").zip(&expected) {
                    assert_eq!(output.expect("an output")[..], expected[..], "{case:?}");
                }

                let client = verifiable::Client::<Ours>::blind(public, &inputs).expect("inputs");
                let blinded = row!(client.blinded());
                let blinded = theirs!(BlindedElement, blinded, Blinded::<Ours>::LEN);
                let (evaluated, proof) = if let [blinded] = &blinded[..] {
                    let result = theirs.blind_evaluate(random, blinded);
                    (vec![result.message], result.proof)
                } else {
                    let result = theirs
                        .batch_blind_evaluate(random, &blinded)
                        .expect("a batch");
                    (result.messages, result.proof)
                };
                let evaluated = serialized!(evaluated.iter());
                let evaluated = Evaluated::decode_all(&evaluated).expect("elements");
                let proof = Proof::decode(&proof.serialize()).expect("a proof");
                let outputs = client.finalize(&evaluated, &proof).expect("a valid proof");
                same(case, &outputs, &expected);
            }

            pub(crate) fn partial(case: &Case, random: &mut Random) {
                let ours =
                    partial::Server::<Ours>::derive(&case.seed, &case.key_info).expect("a key");
                let theirs = voprf::PoprfServer::<Peer>::new_from_seed(&case.seed, &case.key_info)
                    .expect("a key");
                let key = theirs.get_public_key();
                let public = ours.key().public_key();
                assert_eq!(
                    Peer::serialize_elem(key)[..],
                    *public.as_bytes(),
                    "{case:?}"
                );
                let (inputs, info) = (case.inputs(), Some(&case.info[..]));
                let expected: Vec<_> = inputs
                    .iter()
                    .map(|input| theirs.evaluate(input, info).expect("an output").to_vec())
                    .collect();
                let alone =
                    |input: &&[u8]| ours.evaluate_alone(input, &case.info).expect("an output");
                same(
                    case,
                    &inputs.iter().map(alone).collect::<Vec<_>>(),
                    &expected,
                );

                let (states, blinded) = blind!(PoprfClient, case, random);
                let blinded = Blinded::<Ours>::decode_all(&blinded).expect("elements");
                let (evaluated, proof) = ours.evaluate(&blinded, &case.info).expect("a batch");
                let evaluated = row!(evaluated);
                let evaluated = theirs!(EvaluationElement, evaluated, Blinded::<Ours>::LEN);
                let proof = voprf::Proof::deserialize(&proof.encode()).expect("a proof");
                if let ([state], [input]) = (&states[..], &inputs[..]) {
                    let output = state.finalize(input, &evaluated[0], &proof, key, info);
                    assert_eq!(output.expect("an output")[..], expected[0], "{case:?}");
                }
                let outputs = voprf::PoprfClient::batch_finalize(
                    inputs.iter().copied(),
                    &states,
                    &evaluated,
                    &proof,
                    key,
                    info,
                );
                for (output, expected) in outputs.expect("a valid proof").zip(&expected) {
                    assert_eq!(output.expect("an output")[..], expected[..], "{case:?}");
                }

                let client =
                    partial::Client::<Ours>::blind(public, &case.info, &inputs).expect("inputs");
                let blinded = row!(client.blinded());
                let blinded = theirs!(BlindedElement, blinded, Blinded::<Ours>::LEN);
                let (evaluated, proof) = if let [blinded] = &blinded[..] {
                    let result = theirs.blind_evaluate(random, blinded, info);
                    let result = result.expect("an element");
                    (vec![result.message], result.proof)
                } else {
                    let result = theirs.batch_blind_evaluate(random, &blinded, info);
                    let result = result.expect("a batch");
                    (result.messages, result.proof)
                };
                let evaluated = serialized!(evaluated.iter());
                let evaluated = Evaluated::decode_all(&evaluated).expect("elements");
                let proof = Proof::decode(&proof.serialize()).expect("a proof");
                let outputs = client.finalize(&evaluated, &proof).expect("a valid proof");
                same(case, &outputs, &expected);
            }
        }
    };
}

suite!(p256, ::p256::NistP256, P256Sha256);
suite!(p384, ::p384::NistP384, P384Sha384);
suite!(ristretto255, voprf::Ristretto255, Ristretto255Sha512);

fn same(case: &Case, outputs: &[Output], expected: &[Vec<u8>]) {
    let outputs: Vec<&[u8]> = outputs.iter().map(Output::as_bytes).collect();
    assert_eq!(outputs, expected, "{case:?}");
}
