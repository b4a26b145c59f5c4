//! Inputs of libFuzzer's for [`hookproof_fuzz::times`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::times::run(data));
