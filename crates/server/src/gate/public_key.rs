//! Public keys from their numbers, as JWK (RFC 7517) and COSE (RFC 9052) give them.

use sealstone_primitives::hash::Sha2;
use sealstone_primitives::sign::spki::{self, VerifyingKey};

/// An algorithm of signatures. Each has keys of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Es256,
    EdDsa,
    Rs256,
}

impl Algorithm {
    /// Its name in the registry of JOSE (RFC 7518, RFC 8037).
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
        }
    }

    /// Its number in the registry of COSE (RFC 9053, RFC 8812).
    pub(super) fn from_cose(number: i64) -> Option<Self> {
        match number {
            -7 => Some(Self::Es256),
            -8 => Some(Self::EdDsa),
            -257 => Some(Self::Rs256),
            _ => None,
        }
    }

    /// How a key verifies. ECDSA's signature is in DER.
    pub(super) fn scheme(self) -> spki::Algorithm {
        match self {
            Self::Es256 => spki::Algorithm::Ecdsa(Sha2::Sha256),
            Self::EdDsa => spki::Algorithm::Ed25519,
            Self::Rs256 => spki::Algorithm::RsaPkcs1(Sha2::Sha256),
        }
    }
}

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
/// id-ecPublicKey with prime256v1; Ed25519; rsaEncryption with NULL: AlgorithmIdentifier in DER.
const P256: &[u8] = &[
    0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
    0xce, 0x3d, 0x03, 0x01, 0x07,
];
const ED25519: &[u8] = &[0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70];
const RSA: &[u8] = &[
    0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00,
];

/// A point on P-256, of coordinates of 32 bytes.
pub(super) fn p256(x: &[u8], y: &[u8]) -> Option<VerifyingKey> {
    let is_right = x.len() == 32 && y.len() == 32;
    is_right.then_some(())?;
    key(P256, &[&[4][..], x, y].concat())
}

/// A key of Ed25519, of 32 bytes.
pub(super) fn ed25519(x: &[u8]) -> Option<VerifyingKey> {
    (x.len() == 32).then_some(())?;
    key(ED25519, x)
}

/// A modulus of 2048 to 8192 bits, and an exponent.
pub(super) fn rsa(n: &[u8], e: &[u8]) -> Option<VerifyingKey> {
    let pair = [unsigned(n), unsigned(e)].concat();
    key(RSA, &der(SEQUENCE, &pair))
}

/// r and s of ECDSA, of 32 bytes each, in DER (RFC 3279, section 2.2.3).
pub(super) fn ecdsa_signature(raw: &[u8]) -> Option<Vec<u8>> {
    let (r, s) = raw.split_at_checked(32)?;
    (s.len() == 32).then(|| der(SEQUENCE, &[unsigned(r), unsigned(s)].concat()))
}

/// A SubjectPublicKeyInfo (RFC 5280, section 4.1) is read.
fn key(algorithm: &[u8], key: &[u8]) -> Option<VerifyingKey> {
    let key = der(BIT_STRING, &[&[0][..], key].concat());
    let info = der(SEQUENCE, &[algorithm, key.as_slice()].concat());
    VerifyingKey::from_spki(&info).ok()
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let skipped = length.iter().take_while(|byte| **byte == 0).count();
    let digits = &length[skipped.min(length.len() - 1)..];
    let head = match content.len() {
        0..=127 => vec![tag, digits[0]],
        _ => {
            let count = u8::try_from(digits.len()).unwrap_or(0);
            [[tag, 0x80 | count].as_slice(), digits].concat()
        }
    };
    [head.as_slice(), content].concat()
}

/// An INTEGER that is not negative.
fn unsigned(bytes: &[u8]) -> Vec<u8> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let digits = &bytes[zeros..];
    let has_sign = digits.first().is_none_or(|first| first & 0x80 != 0);
    let content = if has_sign {
        [&[0][..], digits].concat()
    } else {
        digits.to_vec()
    };
    der(INTEGER, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_der() {
        assert_eq!(der(4, &[7]), [4, 1, 7]);
        assert_eq!(der(4, &[0; 127])[..2], [4, 127]);
        assert_eq!(der(4, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(der(4, &[0; 256])[..4], [4, 0x82, 1, 0]);
        assert_eq!(der(4, &[]), [4, 0]);
        assert_eq!(unsigned(&[0, 0x80]), [2, 2, 0, 0x80]);
        assert_eq!(unsigned(&[0, 1]), [2, 1, 1]);
        assert_eq!(unsigned(&[0]), [2, 1, 0]);
    }

    #[test]
    fn algorithms_have_their_numbers() {
        let known = [(-7, "ES256"), (-8, "EdDSA"), (-257, "RS256")];
        for (number, name) in known {
            assert_eq!(
                Algorithm::from_cose(number).map(Algorithm::name),
                Some(name)
            );
        }
        for number in [0, 7, 8, -35, -37, -258] {
            assert_eq!(Algorithm::from_cose(number), None);
        }
    }
}
