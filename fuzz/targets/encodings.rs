//! Inputs of libFuzzer's for [`hookproof_fuzz::encodings`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::encodings::run(data));
