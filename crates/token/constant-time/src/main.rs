//! Runs everything that touches a key or a blind, with these marked for valgrind: it reports each
//! branch and each address that depends on them. `scripts/test-constant-time` builds and runs it.
//!
//! usage: valgrind sealstone-constant-time JOB   (without JOB: prints their names)
#![forbid(unsafe_code)]

#[cfg(not(sealstone_valgrind))]
fn main() {
    println!("Run scripts/test-constant-time.");
}

#[cfg(sealstone_valgrind)]
fn main() {
    jobs::main();
}

#[cfg(sealstone_valgrind)]
mod jobs {
    use std::hint::black_box;

    use sealstone_primitives::ct::{mark_public, mark_secret};
    use sealstone_primitives::curve::{Element, Group, P256, Scalar};
    use sealstone_primitives::rng;
    use sealstone_primitives::sign::blind_rsa::{Blind, BlindedMessage, LEN, SALT_LEN, SigningKey};
    use sealstone_token::privacypass::{Token, TokenType};
    use sealstone_token::voprf::{
        Blinded, Evaluated, P256Sha256, P384Sha384, PrivateKey, Proof, Ristretto255Sha512, Suite,
        partial, verifiable,
    };

    /// A name, what it does, and whether valgrind must report something.
    const JOBS: &[(&str, fn(), bool)] = &[
        ("p256", voprf::<P256Sha256>, false),
        ("p384", voprf::<P384Sha384>, false),
        ("ristretto255", voprf::<Ristretto255Sha512>, false),
        ("p256-partial", poprf::<P256Sha256>, false),
        ("p384-partial", poprf::<P384Sha384>, false),
        ("ristretto255-partial", poprf::<Ristretto255Sha512>, false),
        ("rsa", rsa, false),
        ("token-equality", token_equality, false),
        ("planted-branch", branch_on_key_bit, true),
        ("planted-lookup", lookup_by_blind, true),
        ("planted-branch-rsa", branch_on_rsa_blind, true),
        ("planted-variable-time", variable_time_product, true),
        ("planted-equality", equality_by_bytes, true),
    ];

    pub(super) fn main() {
        let wanted = std::env::args().nth(1);
        for (name, job, planted) in JOBS {
            match &wanted {
                Some(wanted) if wanted == name => job(),
                Some(_) => {}
                None => println!("{name} {}", if *planted { "leaks" } else { "clean" }),
            }
        }
    }

    /// Random bytes that encode a scalar, marked as a secret.
    fn secret<S: Suite>() -> Vec<u8> {
        let bytes = PrivateKey::<S>::generate().encode().expose().to_vec();
        mark_secret(&bytes);
        bytes
    }

    const INPUTS: [&[u8]; 5] = [b"one", b"two", b"three", b"four", b"five"];

    fn server_key<S: Suite>() -> PrivateKey<S> {
        PrivateKey::decode(&secret::<S>()).expect("a key")
    }

    /// A copy, as the network would carry it: what is on the wire is public.
    fn wire(bytes: &[u8]) -> Vec<u8> {
        let bytes = bytes.to_vec();
        mark_public(&bytes);
        bytes
    }

    fn row<'a>(elements: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
        wire(&elements.collect::<Vec<_>>().concat())
    }

    /// Keys from a root that is a secret (the epochs' way).
    fn derived<S: Suite>() {
        let seed: [u8; 32] = rng::array();
        mark_secret(&seed);
        let server = verifiable::Server::<S>::derive(&seed, b"info").expect("a key");
        black_box(server.evaluate_alone(INPUTS[0]).expect("an output"));
    }

    fn voprf<S: Suite>() {
        derived::<S>();
        let server = verifiable::Server::<S>::new(server_key());
        let alone = server.evaluate_alone(INPUTS[0]).expect("an output");
        let blinds: Vec<Vec<u8>> = INPUTS.iter().map(|_| secret::<S>()).collect();
        let blinds: Vec<&[u8]> = blinds.iter().map(Vec::as_slice).collect();
        for count in [1, INPUTS.len()] {
            let key = server.key().public_key();
            let client = verifiable::Client::blind_again(key, &INPUTS[..count], &blinds[..count])
                .expect("inputs");
            let blinded = row(client.blinded().iter().map(|element| element.as_bytes()));
            let blinded = Blinded::decode_all(&blinded).expect("elements");
            let (evaluated, proof) = server
                .evaluate_with(&blinded, &secret::<S>())
                .expect("a batch");
            let evaluated = row(evaluated.iter().map(|element| element.as_bytes()));
            let evaluated = Evaluated::decode_all(&evaluated).expect("elements");
            let proof = Proof::decode(&wire(&proof.encode())).expect("a proof");
            let outputs = client.finalize(&evaluated, &proof).expect("outputs");
            assert!(outputs[0] == alone);
        }
    }

    fn poprf<S: Suite>() {
        const INFO: &[u8] = b"info";
        let server = partial::Server::<S>::new(server_key());
        let alone = server.evaluate_alone(INPUTS[0], INFO).expect("an output");
        let blinds: Vec<Vec<u8>> = INPUTS.iter().map(|_| secret::<S>()).collect();
        let blinds: Vec<&[u8]> = blinds.iter().map(Vec::as_slice).collect();
        let key = server.key().public_key();
        let client = partial::Client::blind_with(key, INFO, &INPUTS, &blinds).expect("inputs");
        let blinded = row(client.blinded().iter().map(|element| element.as_bytes()));
        let blinded = Blinded::decode_all(&blinded).expect("elements");
        let (evaluated, proof) = server
            .evaluate_with(&blinded, INFO, &secret::<S>())
            .expect("a batch");
        let evaluated = row(evaluated.iter().map(|element| element.as_bytes()));
        let evaluated = Evaluated::decode_all(&evaluated).expect("elements");
        let proof = Proof::decode(&wire(&proof.encode())).expect("a proof");
        let outputs = client.finalize(&evaluated, &proof).expect("outputs");
        assert!(outputs[0] == alone);
    }

    /// The bytes of a token whose authenticator, all of `fill`, is a secret: who has it spends it.
    fn token_bytes(fill: u8) -> Vec<u8> {
        let mut bytes = vec![7; AUTHENTICATOR];
        bytes[..2].copy_from_slice(&TokenType::VoprfP384.to_bytes());
        bytes.resize(
            AUTHENTICATOR + TokenType::VoprfP384.authenticator_len(),
            fill,
        );
        mark_secret(&bytes[AUTHENTICATOR..]);
        bytes
    }

    /// Where a token's authenticator begins.
    const AUTHENTICATOR: usize = 98;

    fn token_equality() {
        let token = |fill| Token::decode(&token_bytes(fill)).expect("a token");
        assert!(token(1) == token(1));
        assert!(token(1) != token(2));
    }

    /// As if tokens were compared like any other bytes.
    fn equality_by_bytes() {
        let (one, other) = (token_bytes(1), token_bytes(2));
        if black_box(&one)[AUTHENTICATOR..] == black_box(&other)[AUTHENTICATOR..] {
            println!("equal");
        }
    }

    /// The factor that hides a message, marked as a secret. It is below every modulus.
    fn rsa_factor() -> [u8; LEN] {
        let mut factor = [0; LEN];
        rng::fill(&mut factor[1..]);
        mark_secret(&factor);
        factor
    }

    fn rsa_blind(key: &SigningKey) -> (BlindedMessage, Blind) {
        let salt: [u8; SALT_LEN] = rng::array();
        BlindedMessage::new_with(key.verifying_key(), INPUTS[0], &salt, &rsa_factor())
            .expect("a message")
    }

    /// aws-lc itself marks the exponents of its keys and the inverse of one prime as secrets, and
    /// the signature as public.
    fn rsa() {
        let key = SigningKey::generate().expect("a key");
        let (blinded, blind) = rsa_blind(&key);
        let blinded = wire(blinded.as_bytes()).try_into().expect("as many bytes");
        let signature = key.sign(&blinded).expect("a signature");
        blind
            .finalize(key.verifying_key(), INPUTS[0], &signature)
            .expect("a signature");
    }

    /// As any program that would look at the inverse of RSA's factor.
    fn branch_on_rsa_blind() {
        let (_, blind) = rsa_blind(&SigningKey::generate().expect("a key"));
        if black_box(blind.to_bytes())[LEN - 1] & 1 == 1 {
            println!("odd");
        }
    }

    fn branch_on_key_bit() {
        let key = secret::<P256Sha256>();
        if black_box(&key)[31] & 1 == 1 {
            println!("odd");
        }
    }

    fn lookup_by_blind() {
        let table: Vec<u8> = (0..=255).collect();
        let blind = secret::<P256Sha256>();
        black_box(table[usize::from(black_box(&blind)[0])]);
    }

    /// A call of the function for public values only, with a secret one.
    fn variable_time_product() {
        let scalar = <P256 as Group>::Scalar::decode(&secret::<P256Sha256>()).expect("a scalar");
        let point = <P256 as Group>::Element::generator();
        let terms = [(scalar.clone(), &point), (scalar, &point)];
        black_box(<P256 as Group>::Element::sum_of_products_public(&terms));
    }
}
