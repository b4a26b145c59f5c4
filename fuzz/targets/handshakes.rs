//! Inputs of libFuzzer's for [`hookproof_fuzz::handshakes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| hookproof_fuzz::handshakes::run(data));
