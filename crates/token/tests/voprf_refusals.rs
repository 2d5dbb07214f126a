//! Refusals of RFC 9497's functions, each with its error.

use sealstone_primitives::curve::{Element, Group, P256, P384, Ristretto255, Scalar};
use sealstone_testing::unhex as hex;
use sealstone_token::Error;
use sealstone_token::voprf::verifiable::{Client, Server};
use sealstone_token::voprf::{
    Blinded, Evaluated, P256Sha256, P384Sha384, PrivateKey, Proof, PublicKey, Ristretto255Sha512,
    Suite, oblivious, partial,
};

/// The order of P-256 and P-384, the modulus of their fields, and the order of ristretto255.
const P256_ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
const P256_FIELD: &str = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
const P384_ORDER: &str = concat!(
    "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf",
    "581a0db248b0a77aecec196accc52973"
);
const P384_FIELD: &str = concat!(
    "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe",
    "ffffffff0000000000000000ffffffff"
);
const RISTRETTO_ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

#[test]
fn scalars_at_and_above_the_order() {
    fn check<G: Group>(order: &str, big_endian: bool) {
        let order = hex(order);
        let last = if big_endian { order.len() - 1 } else { 0 };
        assert!(G::Scalar::decode(&order).is_err(), "the order itself");
        let (mut below, mut above) = (order.clone(), order.clone());
        below[last] -= 1;
        above[last] += 1;
        assert!(G::Scalar::decode(&above).is_err(), "one above");
        assert!(
            G::Scalar::decode(&vec![0xff; order.len()]).is_err(),
            "the largest"
        );
        let largest = G::Scalar::decode(&below).expect("one below is the largest");
        assert!(
            G::Element::mul_generator(&largest)
                .add(&G::Element::generator())
                .encode()
                .is_err()
        );
        assert!(G::Scalar::decode(&order[1..]).is_err(), "too short");
        assert!(
            G::Scalar::decode(&[&[0], &below[..]].concat()).is_err(),
            "too long"
        );
    }
    check::<P256>(P256_ORDER, true);
    check::<P384>(P384_ORDER, true);
    check::<Ristretto255>(RISTRETTO_ORDER, false);
}

#[test]
fn points_that_are_not_canonical() {
    fn check<S: Suite>(field: &str, len: usize) {
        let coordinate = hex(field);
        // x = p is x = 0 in another form. x = 1 + p is a point of both curves or of none.
        for prefix in [2, 3] {
            assert!(PublicKey::<S>::decode(&[&[prefix], &coordinate[..]].concat()).is_err());
            assert!(Blinded::<S>::decode(&[&[prefix][..], &vec![0xff; len - 1]].concat()).is_err());
        }
        let generator = generator::<S>();
        assert!(
            PublicKey::<S>::decode(&generator).is_ok(),
            "the generator is a point"
        );
        for prefix in [0, 1, 4, 5, 6, 7, 0x82] {
            let mut other = generator.clone();
            other[0] = prefix;
            assert!(PublicKey::<S>::decode(&other).is_err(), "prefix {prefix}");
        }
        assert!(PublicKey::<S>::decode(&[0]).is_err(), "infinity");
        assert!(
            PublicKey::<S>::decode(&vec![0; len]).is_err(),
            "infinity, padded"
        );
        assert!(PublicKey::<S>::decode(&[]).is_err());
        assert!(PublicKey::<S>::decode(&generator[1..]).is_err());
        assert!(PublicKey::<S>::decode(&[&generator[..], &[0]].concat()).is_err());
    }
    check::<P256Sha256>(P256_FIELD, 33);
    check::<P384Sha384>(P384_FIELD, 49);
}

fn generator<S: Suite>() -> Vec<u8> {
    <S::Group as Group>::Element::generator()
        .encode()
        .expect("no identity")
        .as_bytes()
        .to_vec()
}

#[test]
fn uncompressed_points() {
    // SP 800-186: the generator of P-256 in its uncompressed form.
    let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
    let y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
    let uncompressed = hex(&format!("04{x}{y}"));
    assert!(PublicKey::<P256Sha256>::decode(&uncompressed).is_err());
    assert!(PublicKey::<P256Sha256>::decode(&hex(&format!("03{x}"))).is_ok());
}

/// RFC 9496 appendix A.2: encodings that must be rejected, one of each kind, and the identity.
#[test]
fn ristretto_points_that_are_not_canonical() {
    for text in [
        // Not canonical.
        "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        // Negative.
        "0100000000000000000000000000000000000000000000000000000000000000",
        // No square.
        "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
        // Negative product.
        "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
        // Zero.
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        // The identity.
        "0000000000000000000000000000000000000000000000000000000000000000",
    ] {
        assert!(
            Blinded::<Ristretto255Sha512>::decode(&hex(text)).is_err(),
            "{text}"
        );
        assert!(
            PublicKey::<Ristretto255Sha512>::decode(&hex(text)).is_err(),
            "{text}"
        );
    }
}

#[test]
fn zero_is_no_key() {
    assert!(PrivateKey::<P256Sha256>::decode(&[0; 32]).is_err());
    assert!(PrivateKey::<P384Sha384>::decode(&[0; 48]).is_err());
    assert!(PrivateKey::<Ristretto255Sha512>::decode(&[0; 32]).is_err());
    assert_eq!(
        Client::<P256Sha256>::blind_again(
            Server::generate().key().public_key(),
            &[b"x"],
            &[&[0; 32]]
        )
        .err(),
        Some(Error::Malformed("blind"))
    );
}

#[test]
fn wrong_proofs() {
    fn check<S: Suite>() {
        let server = Server::<S>::generate();
        let other = Server::<S>::generate();
        let key = server.key().public_key();
        let inputs: [&[u8]; 3] = [b"a", b"b", b"c"];
        let client = || Client::blind(key, &inputs).expect("inputs");
        let refused = |client: Client<S>, evaluated: &[Evaluated<S>], proof: &Proof<S>| {
            client.finalize(evaluated, proof).err()
        };

        let waiting = client();
        let (evaluated, proof) = other.evaluate(waiting.blinded()).expect("a batch");
        assert_eq!(
            refused(waiting, &evaluated, &proof),
            Some(Error::Proof),
            "another key"
        );

        let waiting = client();
        let (mut evaluated, proof) = server.evaluate(waiting.blinded()).expect("a batch");
        evaluated.swap(0, 1);
        assert_eq!(
            refused(waiting, &evaluated, &proof),
            Some(Error::Proof),
            "reordered"
        );

        let waiting = client();
        let (evaluated, _) = server.evaluate(waiting.blinded()).expect("a batch");
        let (_, proof) = server.evaluate(&waiting.blinded()[..2]).expect("a batch");
        assert_eq!(
            refused(waiting, &evaluated, &proof),
            Some(Error::Proof),
            "another batch's"
        );

        let waiting = client();
        let (evaluated, proof) = server.evaluate(waiting.blinded()).expect("a batch");
        assert_eq!(
            refused(waiting, &evaluated[..2], &proof),
            Some(Error::BatchLength(2)),
            "one is missing"
        );

        // Every bit of the ends of both halves of a proof is significant.
        let len = Proof::<S>::LEN;
        for at in [0, len / 2 - 1, len / 2, len - 1] {
            let waiting = client();
            let (evaluated, proof) = server.evaluate(waiting.blinded()).expect("a batch");
            let mut bytes = proof.encode();
            bytes[at] ^= 1;
            if let Ok(proof) = Proof::decode(&bytes) {
                assert_eq!(refused(waiting, &evaluated, &proof), Some(Error::Proof));
            }
        }
        let zero = Proof::<S>::decode(&vec![0; len]).expect("zeros are scalars");
        let waiting = client();
        let (evaluated, _) = server.evaluate(waiting.blinded()).expect("a batch");
        assert_eq!(
            refused(waiting, &evaluated, &zero),
            Some(Error::Proof),
            "zeros"
        );
        assert!(Proof::<S>::decode(&vec![0; len - 1]).is_err());
        assert!(Proof::<S>::decode(&vec![0xff; len]).is_err());
    }
    check::<P256Sha256>();
    check::<P384Sha384>();
    check::<Ristretto255Sha512>();
}

#[test]
fn the_other_info() {
    let server = partial::Server::<P256Sha256>::generate();
    let key = server.key().public_key();
    let client = partial::Client::blind(key, b"one", &[b"input"]).expect("an input");
    let (evaluated, proof) = server.evaluate(client.blinded(), b"two").expect("a batch");
    assert_eq!(
        client.finalize(&evaluated, &proof).err(),
        Some(Error::Proof)
    );
    let long = vec![0; 65_536];
    assert!(server.evaluate_alone(b"input", &long).is_err());
    assert!(server.evaluate_alone(&long, b"info").is_err());
    assert!(partial::Client::blind(key, &long, &[b"input"]).is_err());
}

#[test]
fn batches_that_are_empty_or_too_long() {
    let server = Server::<Ristretto255Sha512>::generate();
    assert!(Client::blind(server.key().public_key(), &[]).is_err());
    assert!(Client::blind(server.key().public_key(), &[&[0; 65_536]]).is_err());
    assert!(Client::blind(server.key().public_key(), &[&[0; 65_535]]).is_ok());
    assert_eq!(server.evaluate(&[]).err(), Some(Error::BatchLength(0)));
    assert!(oblivious::Client::<Ristretto255Sha512>::blind(&[]).is_err());
    let many: Vec<&[u8]> = vec![b"x"; 65_536];
    let refused = oblivious::Client::<Ristretto255Sha512>::blind(&many).err();
    assert_eq!(refused, Some(Error::BatchLength(65_536)));
}

#[test]
fn another_number_of_blinds_than_inputs() {
    let key = Server::<P256Sha256>::generate().key().public_key().clone();
    let blind = [&[1; 32][..]; 3];
    for count in [0, 1, 3] {
        let again = Client::blind_again(&key, &[b"one", b"two"], &blind[..count]);
        assert_eq!(again.err(), Some(Error::BatchLength(2)));
    }
    assert!(Client::blind_again(&key, &[b"one", b"two"], &blind[..2]).is_ok());
}

/// One evaluation for two inputs, in the modes beside VOPRF.
#[test]
fn fewer_evaluations_than_inputs() {
    type Tested = P256Sha256;
    let inputs: [&[u8]; 2] = [b"one", b"two"];
    let server = oblivious::Server::<Tested>::generate();
    let client = oblivious::Client::blind(&inputs).expect("inputs");
    let evaluated = server.evaluate(client.blinded()).expect("a batch");
    let refused = client.finalize(&evaluated[..1]).err();
    assert_eq!(refused, Some(Error::BatchLength(1)));

    let server = partial::Server::<Tested>::generate();
    let client = partial::Client::blind(server.key().public_key(), b"info", &inputs);
    let client = client.expect("inputs");
    let (evaluated, proof) = server.evaluate(client.blinded(), b"info").expect("a batch");
    let refused = client.finalize(&evaluated[..1], &proof).err();
    assert_eq!(refused, Some(Error::BatchLength(1)));
}

#[test]
fn infos_longer_than_their_length_field() {
    type Tested = Ristretto255Sha512;
    let long = [0; 65_536];
    assert!(Server::<Tested>::derive(&[7; 32], &long[1..]).is_ok());
    let refused = Server::<Tested>::derive(&[7; 32], &long).err();
    assert_eq!(refused, Some(Error::TooLong("key info")));
    let server = partial::Server::<Tested>::generate();
    let refused = server.evaluate_alone(b"input", &long).err();
    assert_eq!(refused, Some(Error::TooLong("info")));
}

#[test]
fn outputs_of_other_inputs_and_keys_differ() {
    let (server, other) = (
        Server::<P384Sha384>::generate(),
        Server::<P384Sha384>::generate(),
    );
    let output = server.evaluate_alone(b"one").expect("an output");
    assert!(output == server.evaluate_alone(b"one").expect("an output"));
    assert!(output != server.evaluate_alone(b"two").expect("an output"));
    assert!(output != other.evaluate_alone(b"one").expect("an output"));
}

/// A key for which the shared input gives zero.
#[test]
fn a_tweaked_key_of_zero() {
    let dst = b"HashToScalar-OPRFV1-\x02-P256-SHA256";
    let tweak = P256::hash_to_scalar(&[b"Info", &4_u16.to_be_bytes(), b"info"], dst);
    let zero = <P256 as Group>::Scalar::decode(&[0; 32]).expect("a number");
    let mut key = [0; 32];
    zero.sub(&tweak).encode_into(&mut key);
    let server = partial::Server::<P256Sha256>::new(PrivateKey::decode(&key).expect("a key"));
    assert!(server.evaluate_alone(b"input", b"other").is_ok());
    let refused = server.evaluate_alone(b"input", b"info").err();
    assert_eq!(refused, Some(Error::InvalidInput));
}
