//! Inputs of libFuzzer's for [`hookproof_fuzz::answers`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::answers::run(data));
