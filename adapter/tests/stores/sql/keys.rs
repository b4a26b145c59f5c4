//! Whose a row is: its key is compared to its last column, and one that another has is an error.

use hookproof::{Bundle, Clock, Content, Error, Letter, SenderStore, Store, commit, commit_each};
use hookproof_core::{
    Id,
    inbox::Reply,
    model::{Operation, Transition},
    outbox::{Delivery, Subject},
    plan::{Put, Write},
};

use super::faults::{NOW, event_to_first, letter, published, received};
use crate::databases;

/// Runs each of these on both databases.
macro_rules! in_each_database {
    ($($test:ident),+ $(,)?) => {
        mod postgres {
            $(#[tokio::test]
            async fn $test() {
                super::$test(super::databases::postgres(super::Clock::fixed(super::NOW)).await).await;
            })+
        }
        mod sqlite {
            $(#[tokio::test]
            async fn $test() {
                let (store, _folder) = super::databases::sqlite(super::Clock::fixed(super::NOW)).await;
                super::$test(store).await;
            })+
        }
    };
}

in_each_database!(
    the_same_id_from_elsewhere_is_another_delivery,
    an_operation_is_booked_once_and_another_occurrence_is_not,
    a_claim_loads_what_it_sends_and_nothing_else,
    a_delivery_with_the_key_of_another_is_an_error,
);

/// R4: a delivery id is its source's and its account's own.
async fn the_same_id_from_elsewhere_is_another_delivery<S: Store>(store: S) {
    let from = |source: &str, account: &str| Letter {
        source: source.to_owned(),
        account: account.to_owned(),
        ..letter("a")
    };
    let letters = [from("partner", "shop"), from("partner", "other"), from("other", "shop")];
    let plans = (1..=3).map(received).collect();
    let content = letters.each_ref().map(Content::Letter);
    let replies = commit_each(&store, store.begin().await.unwrap(), plans, &content).await;
    assert_eq!(replies, [Ok(Reply::Accepted), Ok(Reply::Accepted), Ok(Reply::Accepted)]);
    let mut tx = store.begin().await.unwrap();
    for (id, Letter { source, account, delivery, .. }) in (1..).zip(&letters) {
        let found = store.receipt_of(&mut tx, source, account, delivery).await.unwrap();
        assert_eq!(found.map(|receipt| receipt.id), Some(Id(id)), "{source} {account}");
    }
}

fn operation(entity: u128, transition: u16, occurrence: u64) -> Operation {
    Operation { entity: Id(entity), transition: Transition(transition), occurrence }
}

/// R6: the second renewal is a second operation.
async fn an_operation_is_booked_once_and_another_occurrence_is_not<S: Store>(store: S) {
    let mut tx = store.begin().await.unwrap();
    let booked = Write::Operation(operation(0, 1, 1));
    let bundle = Bundle { writes: &[booked], content: Content::None };
    assert_eq!(store.write_each(&mut tx, &[bundle]).await, Ok(vec![true]));
    assert_eq!(store.write_each(&mut tx, &[bundle]).await, Ok(vec![false]), "R7");
    assert_eq!(store.is_booked(&mut tx, operation(0, 1, 1)).await, Ok(true));
    for other in [operation(1, 1, 1), operation(0, 2, 1), operation(0, 1, 2)] {
        assert_eq!(store.is_booked(&mut tx, other).await, Ok(false), "{other:?}");
    }
}

/// There may be millions of them, and each has its bytes.
async fn a_claim_loads_what_it_sends_and_nothing_else<S: SenderStore>(store: S) {
    let events = published(&store, &[1, 2]).await;
    let mut tx = store.begin().await.unwrap();
    let messages = store.messages(&mut tx, &[Id(1)].into()).await.unwrap();
    assert_eq!(messages.iter().map(|message| message.id).collect::<Vec<_>>(), [Id(1)]);
    let addresses = store.addresses(&mut tx, &[Id(0)].into()).await.unwrap();
    assert_eq!(addresses.iter().map(|address| address.endpoint).collect::<Vec<_>>(), [Id(0)]);
    // The effect is of an entity with an event's key.
    let effect = Subject::Effect(operation(1, 1, 1));
    let [of_first, of_second] = [&events[0], &events[1]].map(|event| Subject::Event(event.id));
    let writes = [(10, of_first), (11, of_second), (12, effect)].map(|(id, subject)| {
        Write::Delivery(Put { was: None, row: Delivery::made(Id(id), subject, Id(0), NOW) })
    });
    let bundle = Bundle { writes: &writes, content: Content::None };
    assert_eq!(store.write_each(&mut tx, &[bundle]).await, Ok(vec![true]));
    let deliveries = store.deliveries_of(&mut tx, &[Id(1)].into()).await.unwrap();
    assert_eq!(deliveries.iter().map(|delivery| delivery.id).collect::<Vec<_>>(), [Id(10)]);
}

/// S12: an event whose delivery was not made must not pass for fanned out, nor be tried for ever.
async fn a_delivery_with_the_key_of_another_is_an_error<S: Store>(store: S) {
    let events = published(&store, &[1, 2]).await;
    let fan_out = async |event, key| {
        let plan = event_to_first(event, key);
        commit(&store, store.begin().await.unwrap(), plan, Content::None).await
    };
    assert_eq!(fan_out(&events[0], 10).await, Ok(1));
    let taken = fan_out(&events[1], 10).await;
    assert!(matches!(taken, Err(Error::Database(_))), "{taken:?}");
    assert_eq!(fan_out(&events[1], 11).await, Ok(1));
}
