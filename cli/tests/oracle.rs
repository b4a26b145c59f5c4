//! A second oracle, in Python and from the contract alone, against the first.

use std::path::Path;
use std::process::Command;

/// Correct histories pass both, each rogue's is broken for both, and of tampered ones nearly all are judged alike.
#[test]
fn the_second_oracle_agrees() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/tests/oracle/compare.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(env!("CARGO_BIN_EXE_hookproof"));
    command
        .args(["--seeds", "60", "--rogue-seeds", "1", "--tampered", "300"])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => panic!(
            "python3 does not start ({error}): install Python 3.9 or later and put it on the path"
        ),
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{wrong}");
}
