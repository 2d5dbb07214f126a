//! The trust store (`spec/trust.md`).
