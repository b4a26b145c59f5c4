//! What the README prints is what a newcomer sees.

use std::{env, path::Path, process::Command};

use crate::support::{Folder, stdout};

/// A line behind `$ `, and what the README shows of its output.
struct Shown<'a> {
    command: &'a str,
    output: Vec<&'a str>,
}

/// The commands of the blocks of a text that begin with one.
fn shown(readme: &str) -> Vec<Vec<Shown<'_>>> {
    let blocks = readme.split("```text\n$ ").skip(1).filter_map(|b| b.split("```").next());
    blocks
        .map(|block| {
            let each = block.split("\n$ ").map(|part| {
                let mut lines = part.lines();
                Shown { command: lines.next().unwrap_or_default(), output: lines.collect() }
            });
            each.collect()
        })
        .collect()
}

/// Runs a line in a shell that finds the binary, in a directory.
fn run(command: &str, directory: &Path) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_hookproof"));
    let mut path = vec![binary.parent().expect("a directory").to_owned()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(directory);
    shell.env("PATH", env::join_paths(path).expect("a path"));
    stdout(&shell.output().expect("a shell"))
}

#[test]
fn every_command_of_the_readme_prints_what_stands_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README");
    let blocks = shown(&readme);
    assert_eq!(blocks.len(), 5);
    for block in blocks {
        let folder = Folder::new();
        for Shown { command, output } in block {
            let at_root = ["vectors/", "conformance/"].iter().any(|at| command.contains(at));
            let directory = if at_root { root.clone() } else { folder.path().into() };
            let printed = run(command, &directory);
            let mut rest = printed.lines();
            for line in output.into_iter().filter(|line| *line != "…") {
                let (front, cut) = line.strip_suffix('…').map_or((line, false), |f| (f, true));
                let found = rest.any(|p| if cut { p.starts_with(front) } else { p == front });
                assert!(found, "`{command}` does not print `{line}`:\n{printed}");
            }
        }
    }
}
