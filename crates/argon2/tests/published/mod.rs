//! Values that RFC 9106 and RFC 7693 print.

use sealstone_argon2::Variant;

/// The tags of RFC 9106, sections 5.1 to 5.3.
pub(crate) const TAGS: [(Variant, &str); 3] = [
    (
        Variant::Argon2d,
        "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
    ),
    (
        Variant::Argon2i,
        "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
    ),
    (
        Variant::Argon2id,
        "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
    ),
];

/// BLAKE2b-512 of `abc`: RFC 7693, appendix A.
pub(crate) const ABC: &str = "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
                   7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
