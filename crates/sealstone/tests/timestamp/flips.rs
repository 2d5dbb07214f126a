//! Every bit of a response is flipped. An accepted response still states the same, by the same
//! certificates.

use std::ops::Range;

use sealstone::timestamp::{Options, Roots, Sha2, Verified};
use sealstone_testing::tsa::{Authority, Info, SIGNER, generalized_time, now, tlv};

use crate::common::{DATA, accepted, check};

/// Places where bits may change without effect: they are not signed, and no verifier reads them.
struct Unsigned {
    name: &'static str,
    range: Range<usize>,
}

/// The only occurrence of some bytes in a response.
fn place(response: &[u8], bytes: &[u8], name: &'static str) -> Unsigned {
    let found = |window: &[u8]| window == bytes;
    let start = response.windows(bytes.len()).position(found);
    let start = start.unwrap_or_else(|| panic!("{name} is in the response"));
    Unsigned {
        name,
        range: start..start + bytes.len(),
    }
}

/// Flips every bit. Returns the number of accepted flips in each place.
fn flip_all(response: &[u8], roots: &Roots, places: &[Unsigned]) -> Vec<usize> {
    let options = Options::default();
    let stated = |verified: &Verified| {
        let path: Vec<Vec<u8>> = verified.path.iter().map(|step| step.der.clone()).collect();
        (
            verified.time,
            verified.policy,
            verified.serial.clone(),
            verified.nonce.clone(),
            path,
        )
    };
    let original = stated(&accepted(response, roots, "as it was sent"));
    let mut counts = vec![0; places.len()];
    let mut changed = response.to_vec();
    for at in 0..response.len() {
        for bit in 0..8 {
            changed[at] ^= 1 << bit;
            if let Ok(verified) = check(&changed, DATA, roots, &options) {
                let place = places.iter().position(|place| place.range.contains(&at));
                let place = place.unwrap_or_else(|| panic!("bit {bit} of byte {at} is accepted"));
                assert_eq!(stated(&verified), original, "byte {at}");
                counts[place] += 1;
            }
            changed[at] ^= 1 << bit;
        }
    }
    counts
}

#[test]
fn replies_of_openssl() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    for (kind, section) in [("P-256", "tsa"), ("P-384", "sha512"), ("2048", "tsa")] {
        tsa.issue("other", kind, "between", SIGNER);
        let imprint = sealstone::timestamp::Imprint::of(Sha2::Sha256, DATA);
        let request = sealstone::timestamp::Request::new(imprint, None);
        let response = tsa.reply("other", &["between.pem"], section, &request.encode());
        // granted (0) becomes grantedWithMods (1), which is equally good.
        let status = place(&response, &[2, 1, 0], "status");
        let counts = flip_all(&response, &roots, &[status]);
        assert_eq!(counts, [1], "{kind}");
    }
}

/// A response with unsigned bytes: a text, a root and an unrelated certificate.
#[test]
fn unsigned_bytes_may_change() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    tsa.key("stranger", "P-256");
    tsa.self_signed("stranger", SIGNER);
    for name in ["root", "stranger"] {
        let (from, to) = (format!("{name}.pem"), format!("{name}.der"));
        tsa.openssl(&["x509", "-in", &from, "-outform", "DER", "-out", &to]);
    }
    tsa.write(
        "sent.pem",
        &tsa.concatenated(&["between.pem", "root.pem", "stranger.pem"]),
    );
    let digest = Sha2::Sha256.digest(&[DATA]);
    let content = Info::new(&digest, &generalized_time(now() + 600)).encode();
    let response = tsa.sign("signer", &content, &["-cades", "-certfile", "sent.pem"]);
    let token = &response[4 + 5..];
    let text = tlv(0x30, &tlv(0x0c, b"Operation Okay"));
    let status = tlv(0x30, &[&[2, 1, 0], &text[..]].concat());
    let response = tlv(0x30, &[&status[..], token].concat());
    let places = [
        place(&response, &status[2..], "status and its text"),
        place(
            &response,
            &tsa.read("root.der"),
            "the root, which the verifier has itself",
        ),
        place(
            &response,
            &tsa.read("stranger.der"),
            "a certificate of another",
        ),
    ];
    let counts = flip_all(&response, &roots, &places);
    for (place, count) in places.iter().zip(&counts) {
        assert!(*count > 0, "no flip is accepted in: {}", place.name);
        println!(
            "{}: {count} of {} flips change nothing",
            place.name,
            8 * place.range.len()
        );
    }
}

/// Every truncated response, or one with a duplicated byte, is refused without a panic.
#[test]
fn cut_and_longer_responses() {
    let Some(tsa) = Authority::new() else { return };
    let roots = Roots::parse(&tsa.read("root.pem")).expect("a root");
    let digest = Sha2::Sha256.digest(&[DATA]);
    let content = Info::new(&digest, &generalized_time(now() + 600)).encode();
    let response = tsa.sign("signer", &content, &["-cades", "-certfile", "between.pem"]);
    for at in 0..response.len() {
        let longer = [&response[..=at], &response[at..]].concat();
        for changed in [&response[..at], &longer] {
            assert!(
                check(changed, DATA, &roots, &Options::default()).is_err(),
                "{at}"
            );
        }
    }
}
