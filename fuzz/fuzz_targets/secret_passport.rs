//! Runs `sealstone_fuzz::secret_passport` on inputs.
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| sealstone_fuzz::secret_passport(data));
