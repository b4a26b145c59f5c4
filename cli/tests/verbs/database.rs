//! The verbs that change a database, on SQLite: migrate and book.

use std::process::{Command, Output};

use crate::support::{Folder, hookproof, stderr, stdout};

fn book(database: &str, resource: &str) -> Output {
    let of =
        ["--entity-type", "order", "--transition", "1", "--by", "alice", "--resource", resource];
    hookproof(&[&["book", "--database", database][..], &of].concat())
}

#[test]
fn a_database_is_made_once_and_an_operation_is_booked_once() {
    let folder = Folder::new();
    let database = format!("sqlite:{}/shop.db", folder.path());
    let early = book(&database, "order_1");
    assert_eq!(early.status.code(), Some(3), "{}", stderr(&early));
    let migrate = || hookproof(&["migrate", "--database", &database]);
    assert_eq!(stdout(&migrate()), "schema 1: made\n");
    assert_eq!(stdout(&migrate()), "schema 1: nothing to do\n");
    let (first, second) = (book(&database, "order_1"), book(&database, "order_1"));
    assert!(stdout(&first).contains("-1-0, by alice ("), "{}", stdout(&first));
    assert!(stdout(&second).contains("is booked already; nothing was changed\n"));
    let named = "which is: entity type \"order\", resource \"order_1\", account \"\", transition 1, occurrence 0\n";
    assert!(stdout(&first).ends_with(named) && stdout(&second).ends_with(named));
    let codes = [first, second, book(&database, "order_2")].map(|output| output.status.code());
    assert_eq!(codes, [Some(0), Some(1), Some(0)]);
}

#[test]
fn an_address_comes_from_the_environment_and_is_never_repeated() {
    let bare = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookproof"));
        command.arg("migrate").env_remove("HOOKPROOF_DATABASE").env_remove("DATABASE_URL");
        command.envs(variables.iter().copied()).output().expect("it starts")
    };
    let missing = bare(&[]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("HOOKPROOF_DATABASE"), "{}", stderr(&missing));
    for address in ["mysql://shop:hunter2@db/x", "postgres://shop:hunter2@nowhere.invalid/x"] {
        let refused = bare(&[("DATABASE_URL", address)]);
        assert!(matches!(refused.status.code(), Some(2 | 3)), "{}", stderr(&refused));
        assert!(!stderr(&refused).contains("hunter2"), "{}", stderr(&refused));
    }
    let folder = Folder::new();
    let made = bare(&[
        ("HOOKPROOF_DATABASE", &format!("sqlite:{}/shop.db", folder.path())),
        ("DATABASE_URL", "mysql://never-looked-at"),
    ]);
    assert_eq!(stdout(&made), "schema 1: made\n");
}

#[test]
fn an_address_without_its_option_gets_a_hint_and_is_not_repeated() {
    let output = hookproof(&["migrate", "postgres://shop:hunter2@db/x"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("--database") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_server_that_does_not_listen_is_told_at_once() {
    let output = hookproof(&["migrate", "--database", "postgres://shop@127.0.0.1:1/shop"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("refused"), "{}", stderr(&output));
}
