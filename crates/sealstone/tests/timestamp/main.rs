//! Timestamps (`spec/timestamp.md`): published responses, and those of a local TSA.

mod common;
mod published;
