//! Handlers that do to their transaction what they should not.

use hookproof::{Clock, Content, Error, Keys, Letter, Store, commit, commit_work, ident};
use hookproof_core::{
    Id,
    handler::{Handler, HandlerError, Incoming},
    inbox::{self, Arrival, Reading, Receipt, Stand},
    model::Proposal,
    payload::Payload,
    profile::InboxPolicy,
    work::{Claim, Ground, Worked},
};
use hookproof_sim::models;
use sqlx::{Postgres, Sqlite, Transaction};

use crate::databases;

/// A handler that runs this and does not care what comes of it.
struct Careless(&'static str);

impl Handler<Transaction<'static, Postgres>> for Careless {
    async fn apply(
        &self,
        tx: &mut Transaction<'static, Postgres>,
        _: &Incoming<'_>,
    ) -> Result<(), HandlerError> {
        drop(sqlx::raw_sql(self.0).execute(&mut **tx).await);
        Ok(())
    }
}

impl Handler<Transaction<'static, Sqlite>> for Careless {
    async fn apply(
        &self,
        tx: &mut Transaction<'static, Sqlite>,
        _: &Incoming<'_>,
    ) -> Result<(), HandlerError> {
        drop(sqlx::raw_sql(self.0).execute(&mut **tx).await);
        Ok(())
    }
}

/// A handler that cannot.
struct Failing;

impl<Tx: Send> Handler<Tx> for Failing {
    async fn apply(&self, _: &mut Tx, _: &Incoming<'_>) -> Result<(), HandlerError> {
        Err(HandlerError::event("no such plan"))
    }
}

/// Has a payment received, claimed and worked on.
async fn pay<S: Store>(store: &S, handler: &(impl Handler<S::Tx> + Sync)) -> Result<Worked, Error> {
    let policy = InboxPolicy::hookproof();
    let (entity, event) = (Id(1), models::SHIPPED);
    let reading = Reading::Proposal(Proposal { entity, event, occurrence: 0, version: 0 });
    let letter = Letter {
        source: "partner".to_owned(),
        account: String::new(),
        delivery: "evt_1".to_owned(),
        event_type: "order.shipped".to_owned(),
        resource: "order_1".to_owned(),
        verified_by: String::new(),
        payload: Payload::of(b"{}".to_vec()),
    };
    let arrival = Arrival { receipt: Id(1), digest: ident::digest(b"{}"), reading };
    let mut tx = store.begin().await?;
    let now = store.now(&mut tx).await?;
    let plan = inbox::receive(None, &arrival, now, &policy);
    commit(store, tx, plan, Content::Letter(&letter)).await?;

    let mut tx = store.begin().await?;
    let due = store.due_receipts(&mut tx, 1, now).await?;
    let plan = due[0].claim(now, &policy).expect("it is due");
    let Claim::Work(job) = commit(store, tx, plan, Content::None).await? else { panic!("fresh") };

    let mut tx = store.begin().await?;
    let keys = Keys { entities: vec![entity], receipts: vec![Id(1)], ..Keys::default() };
    let mut rows = store.load(&mut tx, &keys).await?;
    rows.entities[0].state = hookproof_core::model::State(2);
    let model = models::all().swap_remove(models::ORDER.0.into());
    let ground = Ground { entity: &rows.entities[0], model: &model, booked: false, outside: None };
    let plan = job.work(&rows.receipts[0], &ground, now, &policy).expect("it is held");
    commit_work(store, tx, plan, &rows.receipts[0], handler).await
}

async fn receipt<S: Store>(store: &S) -> Receipt {
    let mut tx = store.begin().await.unwrap();
    let found = store.receipt_of(&mut tx, "partner", "", "evt_1").await.unwrap();
    found.expect("it was received")
}

async fn what_the_handler_did_not_do_is_not_done<S: Store>(store: S) {
    let worked = pay(&store, &Failing).await;
    assert!(matches!(worked, Err(Error::Handler(_))), "{worked:?}");
    let stand = receipt(&store).await.stand;
    assert!(matches!(stand, Stand::Queued { .. }), "E1: {stand:?}, and nothing was done");
}

#[tokio::test]
pub(crate) async fn what_the_handler_did_not_do_is_not_done_in_postgresql() {
    let store = databases::postgres(Clock::database()).await;
    what_the_handler_did_not_do_is_not_done(store).await;
}

#[tokio::test]
pub(crate) async fn what_the_handler_did_not_do_is_not_done_in_sqlite() {
    let (store, _folder) = databases::sqlite(Clock::database()).await;
    what_the_handler_did_not_do_is_not_done(store).await;
}

#[tokio::test]
async fn an_error_that_a_handler_swallowed_is_no_commit() {
    let store = databases::postgres(Clock::database()).await;
    let worked = pay(&store, &Careless("SELECT 1 / 0")).await;
    assert!(matches!(worked, Err(Error::Handler(_))), "{worked:?}");
    assert!(matches!(receipt(&store).await.stand, Stand::Queued { .. }));
}

#[tokio::test]
async fn a_handler_that_ends_the_transaction_is_told_so() {
    for ends in ["ROLLBACK", "COMMIT"] {
        let store = databases::postgres(Clock::database()).await;
        let worked = pay(&store, &Careless(ends)).await.expect_err(ends);
        assert!(worked.to_string().contains("handler had ended it"), "{worked}");
        let done = matches!(receipt(&store).await.stand, Stand::Done(_));
        assert_eq!(done, ends == "COMMIT", "so the outcome is unknown, and the row tells");
    }
}

#[tokio::test]
async fn a_handler_that_ends_the_transaction_in_sqlite_is_told_so() {
    for ends in ["ROLLBACK", "COMMIT"] {
        let (store, _folder) = databases::sqlite(Clock::database()).await;
        let worked = pay(&store, &Careless(ends)).await.expect_err(ends);
        assert!(worked.to_string().contains("handler had ended it"), "{worked}");
        let done = matches!(receipt(&store).await.stand, Stand::Done(_));
        assert_eq!(done, ends == "COMMIT", "so the outcome is unknown, and the row tells");
    }
}
