//! Encodings that all formats share: CBOR, armor, padding and text rules (`spec/README.md`).

pub(crate) mod armor;
pub(crate) mod cbor;
pub(crate) mod pad;
pub(crate) mod text;
