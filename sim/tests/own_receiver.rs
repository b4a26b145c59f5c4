//! The library entry: right receivers pass, wrong ones fail by the promise that one would expect.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use hookproof_core::{
    handler::{Handler, HandlerError, Incoming},
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
};
use hookproof_sim::{
    check::{Check, Verdict, check},
    handler::SimTx,
    promise::Promise,
};

type Done = Result<(), HandlerError>;

/// Everything in the transaction.
struct Shop;

impl Handler<SimTx> for Shop {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name)?;
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn a_receiver_that_stays_in_its_transaction_keeps_every_promise() {
    let verdict = check(|| Shop).run();
    verdict.assert_holds();
    assert!(verdict.runs > 1_000, "{verdict}");
    assert!(verdict.ends.applied > verdict.ends.set_aside, "{verdict}");
    assert!(verdict.to_string().contains(": applied "), "{verdict}");
    assert!(verdict.danger.of(Promise::R7) > 0, "{verdict}");
}

#[test]
fn a_verdict_is_the_same_each_time() {
    let verdict = || check(|| CallsWithoutKey).seeds(0..100).run().to_string();
    assert_eq!(verdict(), verdict());
}

/// Sends the mail from within the transaction, and gives the service no key.
struct CallsWithoutKey;

impl Handler<SimTx> for CallsWithoutKey {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name)?;
        tx.call_outside(event.operation, None)?;
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn what_is_kept_of_a_failure_fails_again_and_is_mended_by_the_right_receiver() {
    let verdict = check(|| CallsWithoutKey).seeds(0..200).run();
    let broken = verdict.broken(Promise::R14).expect("two mails");
    let scenario = broken.scenario.as_ref().expect("it repeats");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("kept.json");
    std::fs::write(&path, scenario.to_json()).expect("a file");

    let again = check(|| CallsWithoutKey).replay(&path);
    assert_eq!((again.histories, again.broken.len()), (1, 1), "{again}");
    let again = again.broken(Promise::R14).expect("the same");
    assert_eq!((&again.what, &again.history), (&broken.what, &broken.history));
    let mended = check(|| CallsWithKey).replay(&path);
    assert!(mended.holds(), "{mended}");
}

#[test]
#[should_panic(expected = "own `order.paid, order.shipped`: expected the events `renewed`")]
fn a_scenario_of_another_receiver_is_refused() {
    let verdict = check(|| CallsWithoutKey).seeds(0..200).run();
    let scenario = verdict.broken[0].scenario.as_ref().expect("it repeats");
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("other.json");
    std::fs::write(&path, scenario.to_json()).expect("a file");
    let _ = check(|| Shop).events(["renewed"]).replay(&path);
}

#[test]
fn a_mail_without_a_key_is_sent_twice() {
    let verdict = check(|| CallsWithoutKey).run();
    breaks(&verdict, Promise::R14);
    assert!(verdict.to_string().contains(" without a key: the effect happened"), "{verdict}");
    assert!(verdict.to_string().contains("The handler calls outside without a key"), "{verdict}");
}

/// The same, with the operation's key.
struct CallsWithKey;

impl Handler<SimTx> for CallsWithKey {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name)?;
        tx.call_outside(event.operation, Some(&event.key()))?;
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn a_mail_with_the_key_of_its_operation_is_sent_once() {
    check(|| CallsWithKey).run().assert_holds();
}

/// Makes the key of the delivery id, which the other endpoint's delivery does not have.
struct KeysByDelivery;

impl Handler<SimTx> for KeysByDelivery {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name)?;
        tx.call_outside(event.operation, Some(event.delivery))?;
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn a_key_made_of_the_delivery_id_is_two_keys() {
    let verdict = check(|| KeysByDelivery).run();
    breaks(&verdict, Promise::R14);
    assert!(verdict.to_string().contains("with another key in each try"), "{verdict}");
}

/// Sends the mail with its key, and makes nothing true in the transaction.
struct OnlyCalls;

impl Handler<SimTx> for OnlyCalls {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        Ok(tx.call_outside(event.operation, Some(&event.key()))?)
    }
}

#[test]
fn a_call_outside_is_not_the_effect_of_the_transaction() {
    let verdict = check(|| OnlyCalls).run();
    breaks(&verdict, Promise::R13);
    assert!(verdict.to_string().contains("a call outside is none"), "{verdict}");
}

/// Takes a second connection from the pool for the booking.
struct OwnTransaction;

impl Handler<SimTx> for OwnTransaction {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        let mut own = tx.outside_tx();
        own.put("bookings", &event.key(), event.name)?;
        Ok(own.effect(event.operation)?)
    }
}

#[test]
fn an_effect_in_a_transaction_of_its_own_happens_twice() {
    let verdict = check(|| OwnTransaction).run();
    breaks(&verdict, Promise::R7);
    assert!(verdict.to_string().contains("they were two"), "{verdict}");
}

#[test]
fn an_effect_made_twice_in_one_transaction_is_told_so() {
    struct Twice;
    impl Handler<SimTx> for Twice {
        async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
            tx.effect(event.operation)?;
            Ok(tx.effect(event.operation)?)
        }
    }
    let said = check(|| Twice).seeds(0..20).run().to_string();
    assert!(said.contains("made its effect twice in one transaction"), "{said}");
    assert!(said.contains(" (occurrence 0) has two effects, by receipt "), "{said}");
}

/// Takes every error for the event's own fault.
struct Blames;

impl Handler<SimTx> for Blames {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name).map_err(HandlerError::event)?;
        tx.effect(event.operation).map_err(HandlerError::event)
    }
}

#[test]
fn a_lost_connection_is_not_the_fault_of_the_event() {
    let verdict = check(|| Blames).run();
    breaks(&verdict, Promise::R10);
    assert!(verdict.to_string().contains("blamed the event"), "{verdict}");
}

/// Remembers in memory what it has done.
#[derive(Default)]
struct Remembers {
    done: Mutex<BTreeSet<String>>,
}

impl Handler<SimTx> for Remembers {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        if !self.done.lock().expect("no poison").insert(event.key()) {
            return Ok(());
        }
        tx.insert("bookings", &event.key(), event.name)?;
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn what_memory_says_was_done_may_have_been_rolled_back() {
    loses_an_effect(&check(Remembers::default));
}

/// Logs the error, and goes on.
struct Swallows;

impl Handler<SimTx> for Swallows {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        let _ = tx.insert("bookings", &event.key(), event.name);
        let _ = tx.effect(event.operation);
        Ok(())
    }
}

#[test]
fn a_swallowed_error_is_an_effect_that_never_was() {
    loses_an_effect(&check(|| Swallows));
}

/// Passes over the error of the one statement that makes the effect true.
struct SwallowsOne;

impl Handler<SimTx> for SwallowsOne {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.insert("bookings", &event.key(), event.name)?;
        let _ = tx.effect(event.operation);
        Ok(())
    }
}

#[test]
fn one_swallowed_error_is_an_effect_that_never_was() {
    loses_an_effect(&check(|| SwallowsOne));
}

/// Takes any error of the insert for "was here before".
struct AnyErrorIsDuplicate;

impl Handler<SimTx> for AnyErrorIsDuplicate {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        if tx.insert("bookings", &event.key(), event.name).is_err() {
            return Ok(());
        }
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
fn an_error_taken_for_a_duplicate_is_an_effect_that_never_was() {
    loses_an_effect(&check(|| AnyErrorIsDuplicate));
}

/// Books by what the event says of its occurrence, where the operation has but one.
struct OtherOperation;

impl Handler<SimTx> for OtherOperation {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        let mut operation = event.operation;
        operation.occurrence = event.occurrence;
        Ok(tx.effect(operation)?)
    }
}

#[test]
fn an_effect_of_another_operation_is_seen() {
    breaks(&check(|| OtherOperation).seeds(0..100).run(), Promise::R6);
}

#[test]
fn an_entity_type_of_ones_own_is_checked_with_its_own_events() {
    let renewals = Rule {
        event: EventType(0),
        from: States::ALL,
        to: State(1),
        books: Some((Transition(0), Occurrence::FromEvent)),
        external: true,
    };
    let model = Model::declare(2, Kind::Latest, Order::Sequence, Early::Wait, vec![renewals]);
    let subscription = check(|| Shop).entity(model.unwrap()).endpoints(1);
    let subscription = subscription.events(["renewed"; 3]).events(["renewed"]);
    subscription.seeds(0..300).run().assert_holds();
}

#[test]
#[should_panic(expected = "order.lost is event type 2 here")]
fn an_event_without_a_rule_is_refused() {
    let _ = check(|| Shop).events(["order.paid", "order.shipped", "order.lost"]).run();
}

/// Waits for something that no rollback undoes.
struct Waits;

impl Handler<SimTx> for Waits {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        tx.effect(event.operation)?;
        std::future::pending().await
    }
}

#[test]
#[should_panic(expected = "awaits something that is not the transaction")]
fn a_handler_that_awaits_something_else_is_told_so() {
    check(|| Waits).run().assert_holds();
}

/// Refuses whatever is not called so.
struct Only(&'static str);

impl Handler<SimTx> for Only {
    async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
        if event.name != self.0 {
            return Err(HandlerError::event("no such event"));
        }
        Ok(tx.effect(event.operation)?)
    }
}

#[test]
#[should_panic(
    expected = "nothing under it had failed, order.paid in 20 histories (seed 0, saying: no"
)]
fn a_handler_that_refuses_everything_shows_nothing() {
    check(|| Only("")).seeds(0..20).run().assert_holds();
}

#[test]
#[should_panic(expected = "nothing under it had failed, order.shipped in ")]
fn a_handler_that_knows_other_names_is_told_which_it_refused() {
    check(|| Only("order.paid")).seeds(0..20).run().assert_holds();
}

#[test]
#[should_panic(expected = "saying: the row bookings/order.paid exists")]
fn rows_that_collide_across_entities_are_told() {
    struct Collides;
    impl Handler<SimTx> for Collides {
        async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
            tx.insert("bookings", event.name, "")?;
            Ok(tx.effect(event.operation)?)
        }
    }
    check(|| Collides).seeds(0..50).run().assert_holds();
}

#[test]
fn a_handler_whose_infrastructure_always_fails_is_told_so_at_once() {
    struct Down;
    impl Handler<SimTx> for Down {
        async fn apply(&self, _: &mut SimTx, _: &Incoming<'_>) -> Done {
            Err(HandlerError::infrastructure("no pool"))
        }
    }
    let verdict = check(|| Down).run();
    assert!(!verdict.holds() && verdict.histories == 1, "{verdict}");
    assert!(verdict.to_string().contains("failed on infrastructure in every run"), "{verdict}");
}

#[test]
#[should_panic(expected = "the handler never ran")]
fn a_check_in_which_no_handler_runs_is_inconclusive() {
    let quiet = check(|| Shop).entity(silent()).seeds(0..20).run();
    quiet.assert_holds();
}

fn silent() -> Model {
    let step = |n: u8| Rule {
        event: EventType(u16::from(n)),
        from: States::of(&[State(n)]),
        to: State(n + 1),
        books: None,
        external: false,
    };
    let steps = vec![step(0), step(1)];
    Model::declare(3, Kind::Latest, Order::Graph, Early::Wait, steps).expect("a chain converges")
}

#[test]
#[should_panic(expected = "the receiver panicked in the history of seed 0: no such order")]
fn a_panic_names_its_seed() {
    struct Panics;
    impl Handler<SimTx> for Panics {
        async fn apply(&self, _: &mut SimTx, _: &Incoming<'_>) -> Done {
            panic!("no such order")
        }
    }
    let _ = check(|| Panics).run();
}

#[test]
fn what_outlives_a_process_is_found_not_to_repeat() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    struct Counts;
    impl Handler<SimTx> for Counts {
        async fn apply(&self, tx: &mut SimTx, event: &Incoming<'_>) -> Done {
            if RUNS.fetch_add(1, Ordering::Relaxed) == 0 {
                return Ok(());
            }
            Ok(tx.effect(event.operation)?)
        }
    }
    let verdict = check(|| Counts).seeds(0..20).run();
    assert!(!verdict.broken[0].repeats, "{verdict}");
}

/// With one endpoint nobody finds the effect missing before the end; with two, the second one's event
/// finds its operation booked and not done.
fn loses_an_effect<F: Fn() -> H + Clone, H: Handler<SimTx>>(receiver: &Check<F>) {
    breaks(&receiver.clone().endpoints(1).run(), Promise::E1);
    let verdict = receiver.run();
    breaks(&verdict, Promise::R13);
    assert!(verdict.to_string().contains("returned Ok, and its effect had not been made"));
}

/// The promise is broken more often than any other, and the report shows how.
fn breaks(verdict: &Verdict, promise: Promise) {
    let broken = verdict.broken(promise).unwrap_or_else(|| panic!("expected {promise}: {verdict}"));
    assert_eq!(verdict.broken[0].promise, promise, "{verdict}");
    assert!(broken.repeats, "{verdict}");
    assert!(verdict.to_string().contains(promise.sentence()), "{verdict}");
}
