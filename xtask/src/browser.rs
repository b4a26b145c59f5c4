//! The pages of `replay --html` and `prove --html` in a browser, clicked through and asked whether all can
//! use them. It needs what CI does not have, and so is a command of its own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::Metadata;

use crate::test::{self, hookproof};

/// Makes pages that show much, and has a browser walk through them.
pub(crate) fn run(workspace: &Metadata, shots: Option<&Path>) -> Result<()> {
    let browser = browser()?;
    ensure!(
        Command::new("node").arg("--version").output().is_ok_and(|node| node.status.success()),
        "expected node: install Node.js, 20 or later"
    );
    ensure!(
        Path::new(FOLDER).join("node_modules/puppeteer-core").exists(),
        "expected the packages of {FOLDER}: run `npm ci` there"
    );
    test::build()?;
    let pages = env::temp_dir().join(format!("hookproof-pages-{}", std::process::id()));
    fs::create_dir_all(&pages)?;
    let outcome = make(workspace, &pages).and_then(|made| look(&browser, shots, &made));
    fs::remove_dir_all(&pages)?;
    outcome
}

/// A page of one scenario for each of some rogues, and two of a proof: one in which all is well, and one in
/// which a promise is broken.
fn make(workspace: &Metadata, pages: &Path) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for rogue in ROGUES {
        let args = ["prove", "--level", "sim", "--seeds", "1", "--rogue", rogue, "--out"];
        ends(hookproof(workspace)?.args(args).arg(pages), 0)?;
        let page = pages.join(format!("{rogue}.html"));
        let file = pages.join(format!("{rogue}.json"));
        let replay = &mut hookproof(workspace)?;
        ends(replay.arg("replay").arg(file).args(["--rogue", rogue, "--html"]).arg(&page), 1)?;
        made.push(page);
    }
    for (name, more, end) in [("proof", [].as_slice(), 0), ("broken", &BREAKS, 1)] {
        let page = pages.join(format!("{name}.html"));
        let args = ["prove", "--level", "sim", "--seeds", "200", "--promise", "R9"];
        let prove = &mut hookproof(workspace)?;
        ends(prove.args(args).args(more).arg("--out").arg(pages).arg("--html").arg(&page), end)?;
        made.push(page);
    }
    Ok(made)
}

fn ends(command: &mut Command, code: i32) -> Result<()> {
    let output = command.output()?;
    ensure!(
        output.status.code() == Some(code),
        "expected {command:?} to exit with {code}, got {}:\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

fn look(browser: &Path, shots: Option<&Path>, pages: &[PathBuf]) -> Result<()> {
    let mut node = Command::new("node");
    node.arg(Path::new(FOLDER).join("check.mjs")).arg(browser);
    if let Some(shots) = shots {
        fs::create_dir_all(shots)?;
        node.arg("--shots").arg(shots);
    }
    let status = node.args(pages).status().context("expected node to start")?;
    ensure!(status.success(), "expected every page to pass, got {status}");
    Ok(())
}

/// The browser that is named, or one of those that follow Chrome.
fn browser() -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let all = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    match all.into_iter().find(|file| file.is_file()) {
        Some(found) => Ok(found),
        None => bail!(
            "expected a browser, one of {}: install one (Debian: `apt-get install chromium`), or name it \
             in {VARIABLE}",
            BROWSERS.join(", ")
        ),
    }
}

const FOLDER: &str = "cli/tests/browser";
const VARIABLE: &str = "HOOKPROOF_BROWSER";
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Together they show messages that are lost, doubled and late, crashes, effects outside and dead letters.
const ROGUES: [&str; 4] = ["check-then-insert", "external-without-key", "zombie-works", "no-alert"];
const BREAKS: [&str; 4] = ["--rogue", "none", "--sabotage", "no-wake"];
