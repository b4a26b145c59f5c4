//! A throw-away PostgreSQL ends with whoever started it.
#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are tests: what fails there fails the suite"
)]

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

/// `cargo xtask postgres`, with a command that says where the server is and waits for its input to end.
fn beside() -> (Child, String) {
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["postgres", "sh", "-c", "echo $HOOKPROOF_POSTGRES; cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(xtask.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
    let (_, folder) = url.trim().split_once("?host=").expect("an address with a folder");
    assert!(Path::new(folder).join("data/postmaster.pid").exists(), "{folder} has a server");
    (xtask, folder.to_owned())
}

/// Waits until the server is stopped and its folder gone, or hangs.
fn is_gone(folder: &str) {
    while Path::new(folder).exists() {
        thread::yield_now();
    }
}

#[test]
fn a_server_goes_when_the_command_ends() {
    let (mut xtask, folder) = beside();
    drop(xtask.stdin.take());
    assert!(xtask.wait().unwrap().success());
    assert!(!Path::new(&folder).exists());
}

#[test]
fn a_server_goes_when_its_holder_is_killed() {
    let (mut xtask, folder) = beside();
    xtask.kill().unwrap();
    xtask.wait().unwrap();
    is_gone(&folder);
}

#[test]
fn a_server_goes_when_its_holder_is_interrupted() {
    let (mut xtask, folder) = beside();
    let id = xtask.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    xtask.wait().unwrap();
    is_gone(&folder);
}
