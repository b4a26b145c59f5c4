//! Inputs of libFuzzer's for [`hookproof_fuzz::signing`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::signing::run(data));
