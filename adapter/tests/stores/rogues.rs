//! Each rogue is caught by a check of the suite, for the promise that it breaks.

use std::panic;

use hookproof::rogue::{self, Rogue};

use crate::{
    owner, race,
    sql::{faults, handlers},
};

/// Runs a check with a wrong line, and asserts that it fails for this promise.
fn caught(rogue: Rogue, promise: &str, check: fn()) {
    let passed = rogue::with(rogue, || panic::catch_unwind(check));
    let failed = passed.expect_err("a rogue that the suite must catch");
    let said = failed.downcast_ref::<String>().map(String::as_str);
    let said = said.or(failed.downcast_ref::<&str>().copied()).unwrap_or_default();
    assert!(said.contains(&format!("{promise}: ")), "expected {promise} to be broken:\n{said}");
    check();
}

#[test]
fn claims_that_are_all_the_same_one_break_s5() {
    let late = owner::a_worker_whose_claim_was_taken_over_settles_nothing_in_postgresql;
    caught(Rogue::NoFence, "S5", late);
    let late = owner::a_worker_whose_claim_was_taken_over_settles_nothing_in_sqlite;
    caught(Rogue::NoFence, "S5", late);
}

#[test]
fn a_settle_whatever_the_row_has_become_breaks_s5() {
    caught(Rogue::UnconditionalSettle, "S5", race::two_settles_of_one_delivery_are_one);
}

#[test]
fn an_effect_in_a_transaction_of_its_own_breaks_e1() {
    let done = handlers::what_the_handler_did_not_do_is_not_done_in_postgresql;
    caught(Rogue::EffectApart, "E1", done);
    let done = handlers::what_the_handler_did_not_do_is_not_done_in_sqlite;
    caught(Rogue::EffectApart, "E1", done);
}

/// SQLite has one writer, so that whoever looks first may insert.
#[test]
fn a_receipt_that_is_looked_for_and_then_inserted_breaks_r4() {
    caught(Rogue::CheckThenInsert, "R4", faults::two_copies_at_once_are_one_receipt);
}

/// SQLite locks the database when a transaction begins.
#[test]
fn guards_that_lock_nothing_break_s5() {
    caught(Rogue::GuardsWithoutLock, "S5", race::two_settles_of_one_delivery_are_one);
}

#[test]
fn guards_that_lock_nothing_break_r9() {
    let deferred = race::what_is_deferred_on_an_entity_that_just_moves_is_decided_again;
    caught(Rogue::GuardsWithoutLock, "R9", deferred);
}

#[test]
fn any_error_taken_for_a_duplicate_breaks_r4() {
    let taken = faults::a_taken_key_is_no_duplicate_in_postgresql;
    caught(Rogue::AnyErrorIsDuplicate, "R4", taken);
    let taken = faults::a_taken_key_is_no_duplicate_in_sqlite;
    caught(Rogue::AnyErrorIsDuplicate, "R4", taken);
}
