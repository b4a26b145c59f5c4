//! Inputs of libFuzzer's for [`hookproof_fuzz::fields`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::fields::run(data));
