//! Sealed files (`spec/file.md`).
