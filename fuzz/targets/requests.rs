//! Inputs of libFuzzer's for [`hookproof_fuzz::requests`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::requests::run(data));
