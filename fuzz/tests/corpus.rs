//! Every input that fuzzing has kept, on the pinned compiler.

use std::{fs, panic, path::PathBuf};

use hookproof_fuzz::TARGETS;

#[test]
fn every_kept_input_passes_its_target() {
    for (name, run) in TARGETS {
        let inputs = inputs(name);
        assert!(inputs.len() >= 5, "{name}: {} inputs are no corpus", inputs.len());
        for (path, bytes) in inputs {
            let passes = panic::catch_unwind(|| run(&bytes)).is_ok();
            assert!(passes, "see above: {}", path.display());
        }
    }
}

#[test]
fn every_folder_of_inputs_has_its_target() {
    for entry in fs::read_dir(corpus()).expect("a corpus") {
        let name = entry.expect("a folder").file_name();
        assert!(TARGETS.iter().any(|(target, _)| name == *target), "{}", name.display());
    }
}

#[test]
fn the_corpus_stays_small() {
    let all: Vec<usize> =
        TARGETS.iter().flat_map(|(name, _)| inputs(name)).map(|(_, bytes)| bytes.len()).collect();
    assert!(all.len() <= 700, "{} inputs: minimise them", all.len());
    assert!(all.iter().sum::<usize>() < 1_000_000, "over a megabyte: minimise the inputs");
}

fn inputs(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fs::read_dir(corpus().join(name)).expect("a folder for each target");
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).expect("bytes"))).collect()
}

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus")
}
