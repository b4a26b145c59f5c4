//! Inputs of libFuzzer's for [`hookproof_fuzz::json`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::json::run(data));
