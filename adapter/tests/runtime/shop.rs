//! A shop that hears of orders from a partner: paid first, then shipped.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use hookproof::{EntityType, Inbox, Received, Setup, Source, Worker, blame};
use hookproof_core::{
    handler::{Handler, HandlerError, Incoming},
    ladder::Ladder,
    model::{Early, EventType, Kind, Model, Occurrence, Order, Rule, State, States, Transition},
    profile::InboxPolicy,
    scheme::{self, Message, Request, Time, Verifier, Window},
};
use sqlx::{Postgres, Sqlite, Transaction};
use tokio::sync::Notify;

use crate::bed::{Bed, Sql};

pub(crate) const PAID: EventType = EventType(0);
pub(crate) const SHIPPED: EventType = EventType(1);
pub(crate) const PAY: Transition = Transition(1);
pub(crate) const SHIP: Transition = Transition(2);

const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// What a handler does with an event, by the resource that it is about; unless said, it books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Fails,
    Unfounded,
    Panics,
    /// It says that it has begun, and ends when it may.
    Waits,
}

/// The shop's handler.
#[derive(Clone, Default)]
pub(crate) struct Shop {
    turns: Arc<Mutex<BTreeMap<String, Turn>>>,
    pub(crate) begun: Arc<Notify>,
    pub(crate) may_end: Arc<Notify>,
}

impl Shop {
    /// From now on events about this order go like this; `None`: as usual.
    pub(crate) fn turns(&self, order: &str, turn: Option<Turn>) {
        let mut turns = self.turns.lock().unwrap();
        match turn {
            Some(turn) => turns.insert(order.to_owned(), turn),
            None => turns.remove(order),
        };
    }

    async fn end(&self, order: &str) -> Result<(), HandlerError> {
        let turn = self.turns.lock().unwrap().get(order).copied();
        match turn {
            None => Ok(()),
            Some(Turn::Fails) => Err(HandlerError::event("no such plan")),
            Some(Turn::Unfounded) => Err(HandlerError::infrastructure("no pool")),
            Some(Turn::Panics) => panic!("a handler of the test panics"),
            Some(Turn::Waits) => {
                self.begun.notify_one();
                self.may_end.notified().await;
                Ok(())
            }
        }
    }
}

fn line(event: &Incoming<'_>) -> String {
    format!("{} {}", event.resource, event.name)
}

macro_rules! books_into_effects {
    ($($database:ty),+) => {
        $(impl Handler<Transaction<'static, $database>> for Shop {
            async fn apply(
                &self,
                tx: &mut Transaction<'static, $database>,
                event: &Incoming<'_>,
            ) -> Result<(), HandlerError> {
                let insert = sqlx::query("INSERT INTO effects (line) VALUES ($1)").bind(line(event));
                insert.execute(&mut **tx).await.map_err(|error| blame(&error))?;
                self.end(event.resource).await
            }
        })+
    };
}

books_into_effects!(Sqlite, Postgres);

/// An order: new, paid, shipped; each event moves it one on, and books once.
pub(crate) fn order(early: Early) -> Model {
    let rule = |event, from, to, transition| Rule {
        event,
        from: States::of(&[State(from)]),
        to: State(to),
        books: Some((transition, Occurrence::Once)),
        external: false,
    };
    let rules = vec![rule(PAID, 0, 1, PAY), rule(SHIPPED, 1, 2, SHIP)];
    Model::declare(3, Kind::Latest, Order::Graph, early, rules).expect("a chain converges")
}

pub(crate) fn orders<S: Sql>(shop: &Shop) -> EntityType<S::Tx>
where
    Shop: Handler<S::Tx>,
{
    EntityType::new("order", order(Early::Wait))
        .on("order.paid", PAID, shop.clone())
        .on("order.shipped", SHIPPED, shop.clone())
        .resource_at("/data/order")
}

pub(crate) fn partner() -> Source {
    let source = Source::preset("partner", "standard-webhooks").unwrap();
    source.secret("first", SECRET, Window::always()).unwrap().account("shop")
}

/// The contract's defaults, but no wait for a database that fails.
pub(crate) fn policy() -> InboxPolicy {
    let ladder = Ladder::new(vec![60_000]).expect("short");
    InboxPolicy { ladder, pause_ms: 1, ..InboxPolicy::hookproof() }
}

pub(crate) fn open<S: Sql>(bed: &Bed<S>, shop: &Shop) -> Inbox<S>
where
    Shop: Handler<S::Tx>,
{
    setup(bed).source(partner()).entity(orders::<S>(shop)).open().unwrap()
}

pub(crate) fn setup<S: Sql>(bed: &Bed<S>) -> Setup<S> {
    Setup::new(bed.store.clone()).policy(policy()).host(bed.host())
}

pub(crate) fn body(event: &str, order: &str) -> String {
    format!("{{\"type\":\"order.{event}\",\"data\":{{\"order\":\"{order}\"}}}}")
}

/// Signs a request at the begin of the tests, and hands it to `take`.
pub(crate) async fn signed<T>(
    id: &str,
    body: &str,
    take: impl AsyncFnOnce(&Request<'_>) -> T,
) -> T {
    let mut signer = Verifier::new(scheme::named("standard-webhooks").unwrap());
    signer.add(SECRET).unwrap();
    let timestamp = (crate::bed::BEGIN.0 / 1_000).to_string();
    let body = body.as_bytes();
    let message = Message { id, timestamp: &timestamp, body, ..Message::default() };
    let headers = signer.sign(&message, Time::NotTested).unwrap();
    let headers: Vec<(&str, &[u8])> =
        headers.iter().map(|(name, value)| (&**name, value.as_bytes())).collect();
    take(&Request { headers: &headers, body, ..Request::default() }).await
}

/// Has an event of an order arrive, as its partner sends it.
pub(crate) async fn arrives<S: Sql>(
    inbox: &Inbox<S>,
    delivery: &str,
    event: &str,
    order: &str,
) -> Received {
    let body = body(event, order);
    let received =
        signed(delivery, &body, async |request| inbox.receive("partner", request).await).await;
    received.unwrap()
}

/// Works on everything that is due now, one event after the other.
pub(crate) async fn work_through<S: Sql>(inbox: &Inbox<S>) -> Vec<hookproof::Ran> {
    let mut ran = Vec::new();
    loop {
        let taken = inbox.take(1).await.unwrap();
        if taken.is_empty() {
            return ran;
        }
        for taken in taken {
            ran.push(inbox.work(taken).await);
        }
    }
}

/// Every effect, in the order of the alphabet.
pub(crate) async fn effects<S: Sql>(store: &S) -> Vec<String> {
    store.texts("SELECT line FROM effects ORDER BY line").await
}

/// How each receipt stands, by its delivery.
pub(crate) async fn stands<S: Sql>(store: &S) -> Vec<String> {
    let sql = "SELECT partner_event_id || ' ' || status || coalesce(' ' || verdict, '')
             || coalesce(' ' || reason, '')
         FROM webhook_inbox ORDER BY partner_event_id";
    store.texts(sql).await
}

/// Runs a worker until every event has come to an end.
pub(crate) async fn run_worker<S: Sql>(worker: &Worker<S>, store: &S) {
    let ended = async {
        while store.count("SELECT status FROM webhook_inbox WHERE wake IS NOT NULL").await > 0 {
            tokio::task::yield_now().await;
        }
    };
    worker.run(ended).await;
}
