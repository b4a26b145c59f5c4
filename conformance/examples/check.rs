//! Runs case files: `cargo run -p hookproof-conformance --example check -- FILE…`.
#![allow(clippy::print_stdout, reason = "it is a command")]

use hookproof_conformance::cases::{File, Report};
use hookproof_core::profile::Profile;

fn main() {
    let mut all = Report::default();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let file = File::read(&text).expect("a case file");
        all.outcomes.extend(file.check(&Profile::hookproof()).expect("cases of known form"));
    }
    print!("{all}");
}
