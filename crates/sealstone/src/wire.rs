//! How values become bytes: CBOR, armor, padding and text rules that every format shares (`spec/README.md`).

pub(crate) mod armor;
pub(crate) mod cbor;
pub(crate) mod pad;
pub(crate) mod text;
