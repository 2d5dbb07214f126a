//! Timestamps (`spec/timestamp.md`): published responses, and those of a local TSA.

mod bad;
mod common;
mod flips;
mod good;
mod paths;
mod published;
mod renewals;
