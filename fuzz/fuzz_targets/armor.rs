//! Runs `sealstone_fuzz::armor` on inputs.
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealstone_fuzz::armor(data));
