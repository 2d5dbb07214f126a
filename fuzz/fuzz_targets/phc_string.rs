//! Runs `sealstone_fuzz::phc_string` on inputs.
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealstone_fuzz::phc_string(data));
