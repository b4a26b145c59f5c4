//! What verbs take in: files, standard input, secrets; and how they say that something is amiss.

use std::{
    env, fmt, fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use clap::{Args, error::ErrorKind};

use crate::End;

/// Why a verb has no verdict.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The command line asks for what cannot be.
    Misuse(String),
    /// Something that was named cannot be read, or written.
    Unreadable(String),
}

impl Fault {
    pub(crate) fn misuse(text: impl Into<String>) -> Self {
        Self::Misuse(text.into())
    }

    pub(crate) fn unreadable(text: impl Into<String>) -> Self {
        Self::Unreadable(text.into())
    }

    /// Says it on standard error. A misuse ends the program here, as a wrong option does.
    pub(crate) fn end(self) -> End {
        match self {
            Self::Misuse(text) => {
                clap::Error::raw(ErrorKind::ValueValidation, format!("{text}\n")).exit()
            }
            Self::Unreadable(text) => {
                note("error", &text);
                End::Failed
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Misuse(text) | Self::Unreadable(text) => f.write_str(text),
        }
    }
}

/// A line on standard error, which is for people and never decides anything.
pub(crate) fn note(word: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{word}: {text}");
}

/// The bytes of a file, or of standard input where the path is `-`.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, Fault> {
    read(path).map_err(|why| Fault::unreadable(format!("{}: {why}", path.display())))
}

/// The text of a file, or of standard input where the path is `-`.
pub(crate) fn text(path: &Path) -> Result<String, Fault> {
    String::from_utf8(bytes(path)?).map_err(|_| {
        Fault::unreadable(format!("{}: expected UTF-8 text: convert the file", path.display()))
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let mut all = Vec::new();
    let limit = BYTES_MAX + 1;
    let taken = if is_stdin(path) {
        io::stdin().lock().take(limit).read_to_end(&mut all)
    } else {
        fs::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut all))
    };
    taken.map_err(|error| format!("expected a readable file: {error}"))?;
    if all.len() as u64 > BYTES_MAX {
        return Err(format!("expected at most {BYTES_MAX} bytes: split the file"));
    }
    Ok(all)
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses to read standard input twice.
pub(crate) fn one_stdin<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), Fault> {
    if paths.into_iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Fault::misuse("expected `-` at most once: standard input can be read once"));
    }
    Ok(())
}

/// Where secrets come from: files and the environment, never the command line, which others can see.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Secrets {
    /// Read a secret from this file; final line ends are no part of it. Several: any may match.
    #[arg(long = "secret-file", value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Read a secret from the environment variable with this name, after those of files.
    #[arg(long = "secret-env", value_name = "NAME")]
    names: Vec<String>,
}

impl Secrets {
    /// The secrets in their order.
    pub(crate) fn read(&self) -> Result<Vec<Secret>, Fault> {
        let files = self.files.iter().enumerate();
        let files = files.map(|(at, path)| secret_file("--secret-file", at, path));
        let names = self.names.iter().enumerate();
        let all: Vec<Secret> =
            files.chain(names.map(|(at, name)| environment(at, name))).collect::<Result<_, _>>()?;
        if all.is_empty() {
            return Err(Fault::misuse(
                "expected a secret: name its file with --secret-file, or its environment variable \
                 with --secret-env",
            ));
        }
        Ok(all)
    }

    /// The files, for whoever counts readers of standard input.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }
}

/// A secret's text and where it is from. It has no `Debug`: the text must reach no output.
#[derive(Clone)]
pub(crate) struct Secret {
    /// Where it is from, to tell it from others.
    pub(crate) name: String,
    /// The text without its final line ends.
    pub(crate) text: String,
}

/// Reads the secret of an option. A path that cannot be read is not repeated: it may be the secret.
pub(crate) fn secret_file(option: &str, at: usize, path: &Path) -> Result<Secret, Fault> {
    let which = format!("{option} {}", at + 1);
    let bytes = read(path).map_err(|why| {
        Fault::unreadable(format!("{which}: {why} (it takes a path, never the secret itself)"))
    })?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Fault::unreadable(format!("{which}: expected a secret in UTF-8 text")))?;
    let name = path.file_name().map_or("-".into(), |name| name.to_string_lossy().into_owned());
    if text.starts_with('\u{feff}') {
        note(
            "warning",
            &format!(
                "{which}: it begins with a byte order mark, which counts as part of the secret: save the \
                 file without it"
            ),
        );
    }
    Ok(Secret { name, text: text.trim_end_matches(['\r', '\n']).to_owned() })
}

fn environment(at: usize, name: &str) -> Result<Secret, Fault> {
    let text = env::var(name).map_err(|error| {
        let why = match error {
            env::VarError::NotPresent => "a variable that is set",
            env::VarError::NotUnicode(_) => "UTF-8 text in it",
        };
        Fault::misuse(format!(
            "--secret-env {}: expected {why} (it takes a name, never the secret itself)",
            at + 1
        ))
    })?;
    Ok(Secret { name: name.to_owned(), text })
}

/// The largest input, in bytes.
const BYTES_MAX: u64 = 1 << 30;
