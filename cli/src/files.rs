//! Which files are meant: each that is named, and in a directory those of the form. And how one is written.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::input::{self, Fault};

/// Files that were read.
#[derive(Default)]
pub(crate) struct Found {
    /// Name and text.
    pub(crate) files: Vec<(String, String)>,
    /// JSON of other forms, met in a directory.
    pub(crate) skipped: Vec<String>,
    /// What cannot be read.
    pub(crate) faults: Vec<Fault>,
}

impl Found {
    /// Reads what is named; a directory with all of this form below it, its manifest left out.
    pub(crate) fn of(paths: &[PathBuf], form: &str) -> Self {
        let mut found = Self::default();
        for path in paths {
            if path.is_dir() {
                found.directory(path, form);
            } else {
                found.file(path, None);
            }
        }
        found
    }

    fn directory(&mut self, path: &Path, form: &str) {
        let mut below = Vec::new();
        if let Err(error) = walk(path, &mut below) {
            self.faults.push(Fault::unreadable(format!("{}: {error}", path.display())));
        }
        let before = self.files.len() + self.faults.len();
        for path in &below {
            self.file(path, Some(form));
        }
        if self.files.len() + self.faults.len() == before {
            let why = format!("expected files: none below it is JSON with a `format` of {form}");
            self.faults.push(Fault::unreadable(format!("{}: {why}", path.display())));
        }
    }

    fn file(&mut self, path: &Path, form: Option<&str>) {
        let name = path.display().to_string();
        match input::text(path) {
            Ok(text) if form.is_some_and(|form| is_of_another(form, &text)) => {
                self.skipped.push(name);
            }
            Ok(text) => self.files.push((name, text)),
            Err(fault) => self.faults.push(fault),
        }
    }
}

/// JSON that does not claim to be of this form. What is no JSON is of no other: it may be a broken file.
fn is_of_another(form: &str, text: &str) -> bool {
    let claims = |root: &Value| {
        root.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with(form))
    };
    serde_json::from_str::<Value>(text).is_ok_and(|root| !claims(&root))
}

/// Every `.json` below a directory, by name; directories behind a link are left alone.
fn walk(path: &Path, below: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_json = path.extension().is_some_and(|extension| extension == "json");
        if entry.file_type()?.is_dir() {
            walk(&path, below)?;
        } else if is_json && path.is_file() && entry.file_name() != MANIFEST {
            below.push(path);
        }
    }
    Ok(())
}

/// Writes a report.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Fault> {
    fs::write(path, text).map_err(|error| {
        Fault::unreadable(format!("{}: expected to write a report: {error}", path.display()))
    })
}

/// The manifest of a single directory: in it, or beside it.
pub(crate) fn manifest(paths: &[PathBuf]) -> Option<PathBuf> {
    let [directory] = paths else { return None };
    if !directory.is_dir() {
        return None;
    }
    let beside = directory.canonicalize().ok()?.parent()?.join(MANIFEST);
    [directory.join(MANIFEST), beside].into_iter().find(|path| path.is_file())
}

const MANIFEST: &str = "manifest.json";
