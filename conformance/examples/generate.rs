//! Writes the generated case files: `cargo run -p hookproof-conformance --example generate`.

use std::{fs, path::PathBuf};

fn main() {
    let vectors = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../vectors");
    let published = fs::read_to_string(vectors.join("published.json")).expect("published.json");
    for file in hookproof_conformance::generate::all(&published).expect("published vectors") {
        fs::write(vectors.join("cases").join(&file.name), file.text()).expect("a writable file");
    }
}
