//! Inputs of libFuzzer's for [`hookproof_fuzz::targets`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::targets::run(data));
