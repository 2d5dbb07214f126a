//! Runs `sealstone_fuzz::token_text` on inputs.
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealstone_fuzz::token_text(data));
