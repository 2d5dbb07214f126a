//! Secret and public passports.

use arbitrary::Unstructured;
use sealstone::file::{Sealer, Workers};
use sealstone::passport::{PublicPassport, SecretPassport};
use sealstone::{Error, KdfLimits, NO_PROGRESS, Passphrase};

use crate::edit::edited;
use crate::golden::{self, PUBLIC, SECRET};
use crate::sealed::normal;
use crate::{PLANTED, forge};

/// Parses any secret passport, and computes no Argon2id above the limits.
pub fn secret_passport(data: &[u8]) {
    let text = secret_text(data);
    let Ok(file) = SecretPassport::from_armor(&text) else {
        assert!(!SECRET.contains(&&text[..]), "a golden passport is refused");
        return;
    };
    assert_eq!(normal(&text, "SECRET PASSPORT"), file.to_armor().as_bytes());
    assert!((1..=16).contains(&file.slots().len()));
    assert!(file.slots().is_sorted_by(|a, b| a.id() < b.id()));
    assert!((1..=64).contains(&file.label().len()) && !file.label().chars().any(char::is_control));
    if PLANTED {
        // The planted bug: a number is assumed to be small.
        file.slots().iter().for_each(|slot| {
            u8::try_from(slot.params().passes()).expect("few passes");
        });
    }
    let nothing = KdfLimits {
        memory_kib: 0,
        work_kib: 0,
    };
    for passphrase in [
        "golden alice one",
        "GOLD-ENKE-YABC-DEFG-HIJK-LMNO-PQRS-TUVW",
    ] {
        let passphrase = Passphrase::new(passphrase.as_bytes()).expect("not empty");
        for slot in [None, Some(1)] {
            assert!(
                file.unlock(&passphrase, slot, &nothing, NO_PROGRESS)
                    .is_err()
            );
        }
    }
}

/// Any text, an edited text, an edited object, or an object with an edited body.
fn secret_text(data: &[u8]) -> Vec<u8> {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let base = SECRET[mode / 4 % SECRET.len()];
    let object = match mode % 4 {
        0 => return bytes.take_rest().to_vec(),
        1 => return edited(base, &mut bytes),
        2 => edited(&golden::dearmor(base), &mut bytes),
        _ => {
            let object = golden::dearmor(base);
            let body = first_bstr(&object);
            [
                &[0x82][..],
                &forge::bstr(&edited(body, &mut bytes)),
                &object[object.len() - 34..],
            ]
            .concat()
        }
    };
    golden::armor("SECRET PASSPORT", &object).into_bytes()
}

/// The byte string that comes first in an array.
fn first_bstr(object: &[u8]) -> &[u8] {
    match object[1] {
        0x58 => &object[3..][..usize::from(object[2])],
        0x59 => &object[4..][..usize::from(u16::from_be_bytes([object[2], object[3]]))],
        head => panic!("a golden passport's body is not short: {head:#x}"),
    }
}

/// Refuses public passports that their owner did not sign, and accepts all signed ones without
/// damage.
pub fn public_passport(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mode = bytes.arbitrary::<u8>().map_or(0, usize::from);
    let base = golden::dearmor(PUBLIC[mode / 2 % PUBLIC.len()]);
    if mode.is_multiple_of(2) {
        let object = edited(&base, &mut bytes);
        assert!(
            !taken(&object) || object == base,
            "a public passport that nobody signed"
        );
    } else {
        let alice = golden::dearmor(PUBLIC[0]);
        let body = edited(first_bstr(&alice), &mut bytes);
        assert!(
            signed(&body) || body != first_bstr(&alice),
            "a right passport is refused"
        );
    }
}

fn taken(object: &[u8]) -> bool {
    match PublicPassport::from_armor(golden::armor("PUBLIC PASSPORT", object).as_bytes()) {
        // The planted bug: the signatures are not checked.
        Err(Error::Altered(_)) => PLANTED,
        result => result.is_ok(),
    }
}

fn signed(body: &[u8]) -> bool {
    let text = golden::armor("PUBLIC PASSPORT", &forge::public_passport(body));
    let Ok(passport) = PublicPassport::from_armor(text.as_bytes()) else {
        return false;
    };
    assert_eq!(passport.to_armor(), text);
    let contact = passport.contact();
    assert!(
        (1..=64).contains(&contact.label().len()) && !contact.label().chars().any(char::is_control)
    );
    assert!(contact.is_complete());
    // Accepted keys may be unusable, but sealing to them reports that.
    let sealed =
        Sealer::new()
            .to_passport(contact)
            .seal(&b""[..], std::io::sink(), Workers::new(1));
    drop(sealed);
    true
}
