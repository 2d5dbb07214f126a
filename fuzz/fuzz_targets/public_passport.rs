//! Runs `sealstone_fuzz::public_passport` on inputs.
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealstone_fuzz::public_passport(data));
