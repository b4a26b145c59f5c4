//! The binary as people and scripts meet it: what it prints, and how it ends.

use std::process::{Command, Output};

fn hookproof(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hookproof")).args(args).output().expect("it starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it writes UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("it writes UTF-8")
}

/// The text with each number as `#`, and blanks, which depend on how long numbers are, as one. The
/// numbers of promises stay. Lines about what is rare in so few histories are left out.
fn masked(text: &str) -> String {
    let about_rare = |line: &&str| line.starts_with("faults") || line.starts_with("not shown");
    let mut left_out = false;
    let kept = |line: &&str| {
        // What is wrapped goes with its head.
        left_out = about_rare(line) || left_out && line.starts_with(' ');
        !left_out
    };
    text.lines().filter(kept).map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let mut masked = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && !",.".contains(c));
        let number = rest[..number.unwrap_or(rest.len())].trim_end_matches([',', '.']).len();
        let named = masked.ends_with(['S', 'R', 'E']);
        let taken = if c.is_ascii_digit() { number } else { c.len_utf8() };
        match c {
            '0'..='9' if named => masked.push_str(&rest[..taken]),
            '0'..='9' => masked.push('#'),
            ' ' if masked.ends_with(' ') => {}
            c => masked.push(c),
        }
        rest = &rest[taken..];
    }
    masked
}

/// A small run that finds nothing wrong, unless something is.
const SMALL: [&str; 7] = ["prove", "--seeds", "200", "--rogue", "none", "--level", "sim"];

#[test]
fn help_says_what_can_be_asked() {
    insta::assert_snapshot!("help", stdout(&hookproof(&["--help"])));
    insta::assert_snapshot!("help_prove", stdout(&hookproof(&["prove", "--help"])));
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = stdout(&hookproof(&["--version"]));
    assert_eq!(version, format!("hookproof {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_small_run_reports_every_promise_and_what_it_left_out() {
    let output = hookproof(&SMALL);
    insta::assert_snapshot!("small", masked(&stdout(&output)));
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn the_object_for_programs_has_its_keys_in_their_order() {
    let output = hookproof(&[&SMALL[..], &["--json"]].concat());
    let text = stdout(&output);
    let object: serde_json::Value = serde_json::from_str(&text).expect("one object");
    assert_eq!(object["histories"], 200);
    assert_eq!(object["violations"], 0);
    assert_eq!(object["seed_range"], serde_json::json!([0, 199]));
    assert_eq!(object["repeat"], "hookproof prove --seeds 200 --rogue none --level sim");
    assert_eq!(object["rogues"][0]["caught"], true);
    insta::assert_snapshot!("small_json", masked(&text));
}

#[test]
fn a_bounded_look_at_the_small_worlds_says_how_far_it_went() {
    let output =
        hookproof(&["prove", "--level", "explore", "--rogue", "none", "--budget", "1s", "--json"]);
    let object: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("an object");
    assert_eq!(output.status.code(), Some(0), "{object}");
    assert_eq!(object["histories"], 0);
    assert_eq!(object["seed_range"], serde_json::Value::Null);
    let worlds = object["explore"].as_array().expect("worlds");
    assert!(worlds.len() >= 2, "{object}");
    assert!(worlds.iter().all(|world| world["states"].as_u64() > Some(1_000)), "{object}");
    assert!(object["promises"][0]["levels"]["explore"].as_u64() > Some(1_000), "{object}");
}

#[test]
fn the_counts_do_not_depend_on_the_number_of_jobs() {
    let counts = |jobs| {
        let output = hookproof(&[&SMALL[..], &["--json", "--jobs", jobs]].concat());
        let object: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("an object");
        [object["steps"].clone(), object["promises"].clone(), object["faults"].clone()]
    };
    assert_eq!(counts("1"), counts("3"));
}

#[test]
fn a_seed_gives_the_same_bytes_in_two_processes() {
    let (one, other) = (hookproof(&["prove", "--seed", "7"]), hookproof(&["prove", "--seed", "7"]));
    assert!(stdout(&one).lines().count() > 50, "{}", stdout(&one));
    assert_eq!(one.stdout, other.stdout);
    assert!(!stdout(&one).contains('\u{1b}'), "a pipe gets no colours");
}

#[test]
fn the_canary_is_caught_by_the_keys_of_operations() {
    let output = hookproof(&["prove", "--rogue", "operation-by-delivery"]);
    let text = stdout(&output);
    let row = text.lines().find(|line| line.starts_with("operation-by-delivery")).expect("a row");
    assert!(row.contains("R6") || row.contains("R7"), "{row}");
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn the_command_that_a_hunt_prints_shows_its_rogue_caught() {
    let text =
        stdout(&hookproof(&["prove", "--rogue", "no-alert", "--level", "sim", "--seeds", "1"]));
    let command = text.lines().find_map(|line| line.strip_prefix("all of it  hookproof "));
    let args: Vec<&str> = command.expect("a command").split(' ').collect();
    let output = hookproof(&args);
    assert!(stdout(&output).contains("R11 is broken after"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_rogue_that_one_history_does_not_catch_is_said_to_escape_it() {
    let output = hookproof(&["prove", "--seed", "0", "--rogue", "fan-out-half"]);
    assert!(stdout(&output).contains("fan-out-half is not caught by this history"));
    assert!(stdout(&output).contains("hookproof prove --rogue fan-out-half\n"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn an_option_that_is_not_understood_ends_with_2_and_what_was_expected() {
    for (args, expected) in [
        (&["prove", "--rogue", "zombie-setles"][..], "near are zombie-settles"),
        (&["prove", "--promise", "S16"], "S16 is not decided here"),
        (&["prove", "--promise", "X1"], "expected one of S1 S2"),
        (&["prove", "--seeds", "0"], "expected a count of histories"),
        (&["prove", "--seeds", "9..3"], "a range of seeds"),
        (&["prove", "--budget", "soon"], "expected a time like 60s"),
        (&["prove", "--jobs", "0"], "--jobs"),
        (&["prove", "--level", "wire"], "possible values: explore, sim"),
        (&["prove", "--seed", "7", "--json"], "cannot be used with"),
        (&["proof"], "a similar subcommand exists: 'prove'"),
    ] {
        let output = hookproof(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn promises_and_rogues_are_listed_by_name() {
    let promises = stdout(&hookproof(&["promises"]));
    assert!(promises.contains("R7   no operation has two effects"), "{promises}");
    let rogues = stdout(&hookproof(&["rogues"]));
    assert!(rogues.contains("operation-by-delivery"), "{rogues}");
    assert!(rogues.contains("    Keys operations by delivery id.\n"), "{rogues}");
}

#[test]
fn the_command_that_a_sabotaged_run_prints_shows_the_same_breach() {
    let args = ["prove", "--level", "sim", "--rogue", "none", "--sabotage", "no-wake"];
    let text = stdout(&hookproof(&args));
    let breach = text.lines().find_map(|line| line.strip_prefix("R9: ")).expect("a breach");
    let command = text.lines().find_map(|line| line.strip_prefix("all of it  hookproof "));
    let command = command.expect("a command");
    assert!(command.ends_with("--sabotage no-wake"), "{command}");
    let output = hookproof(&command.split(' ').collect::<Vec<_>>());
    assert!(stdout(&output).contains(breach), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(1));
}

/// A guard, a seal, a fence and a wake that is taken out of the code is noticed, each of them.
#[test]
fn code_without_a_guard_a_seal_a_fence_or_a_wake_does_not_pass() {
    let removed = [
        "unguarded-endpoint",
        "unguarded-endpoint-read",
        "unguarded-entity",
        "unguarded-entity-read",
        "unguarded-operation",
        "unguarded-receipt",
        "unguarded-purge",
        "unguarded-event",
        "unguarded-delivery",
        "sends-before-claim",
        "acks-then-stores",
        "accepts-before-commit",
        "resend-swallowed",
        "zombie-settles",
        "no-fence-on-failure",
        "zombie-releases",
        "zombie-works",
        "claims-more-than-it-can-dial",
        "no-wake",
        "no-handler",
    ];
    for rogue in removed {
        let args = ["prove", "--level", "sim", "--rogue", "none", "--sabotage", rogue];
        let output = hookproof(&[&args[..], &["--seeds", "20000", "--favour", rogue]].concat());
        assert_eq!(output.status.code(), Some(1), "{rogue}: {}", stdout(&output));
    }
}
