//! Entities whose state is the application's own, and those that an authoritative API is asked about.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use hookproof::{Authority, EntityType, Inbox, Keeper, Kept, Named, Ran, blame};
use hookproof_core::{
    handler::{Handler, HandlerError},
    inbox::End,
    model::{Early, Kind, Model, Order, Rule, State, States},
    work::{Fetched, Worked},
};
use sqlx::{Postgres, Sqlite, Transaction};

use crate::{
    bed::{Bed, Sql},
    shop::{PAID, SHIPPED, Shop, arrives, effects, orders, partner, setup, stands, work_through},
};

on_each_store!(
    the_applications_row_is_the_state,
    a_row_that_other_hands_moved_is_believed,
    what_the_handler_undoes_the_table_does_not_keep,
    an_early_event_is_answered_by_the_api,
    an_api_that_does_not_answer_leaves_the_event_waiting,
);

/// The application's table of orders.
struct Orders;

fn kept(state: i64) -> Kept {
    Kept { state: State(u8::try_from(state).unwrap()), version: 0 }
}

/// The two differ in how they lock.
macro_rules! keeps_orders {
    ($database:ty, $select:literal) => {
        impl Keeper<Transaction<'static, $database>> for Orders {
            async fn load(
                &self,
                tx: &mut Transaction<'static, $database>,
                entity: &Named<'_>,
            ) -> Result<Kept, HandlerError> {
                let insert = "INSERT INTO orders (id, state) VALUES ($1, 0) ON CONFLICT DO NOTHING";
                let made = sqlx::query(insert).bind(entity.resource).execute(&mut **tx).await;
                made.map_err(|error| blame(&error))?;
                let select = sqlx::query_scalar($select);
                let state = select.bind(entity.resource).fetch_one(&mut **tx).await;
                state.map(kept).map_err(|error| blame(&error))
            }

            async fn store(
                &self,
                tx: &mut Transaction<'static, $database>,
                entity: &Named<'_>,
                kept: Kept,
            ) -> Result<(), HandlerError> {
                let update = sqlx::query("UPDATE orders SET state = $2 WHERE id = $1");
                let update = update.bind(entity.resource).bind(i64::from(kept.state.0));
                update.execute(&mut **tx).await.map(drop).map_err(|error| blame(&error))
            }
        }
    };
}

keeps_orders!(Sqlite, "SELECT state FROM orders WHERE id = $1");
keeps_orders!(Postgres, "SELECT state FROM orders WHERE id = $1 FOR UPDATE");

fn kept_by_the_shop<S: Sql>(bed: &Bed<S>, shop: &Shop) -> Inbox<S>
where
    Shop: Handler<S::Tx>,
    Orders: Keeper<S::Tx>,
{
    setup(bed).source(partner()).entity(orders::<S>(shop).kept_by(Orders)).open().unwrap()
}

const STATES: &str = "SELECT id || ' ' || state FROM orders ORDER BY id";

async fn the_applications_row_is_the_state<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
    Orders: Keeper<S::Tx>,
{
    let inbox = kept_by_the_shop(&bed, &Shop::default());
    arrives(&inbox, "evt_2", "shipped", "order_1").await;
    work_through(&inbox).await;
    assert_eq!(bed.store.texts(STATES).await, ["order_1 0"]);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    work_through(&inbox).await;
    assert_eq!(bed.store.texts(STATES).await, ["order_1 2"]);
    assert_eq!(effects(&bed.store).await, ["order_1 order.paid", "order_1 order.shipped"]);
}

async fn a_row_that_other_hands_moved_is_believed<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
    Orders: Keeper<S::Tx>,
{
    let inbox = kept_by_the_shop(&bed, &Shop::default());
    bed.store.run("INSERT INTO orders (id, state) VALUES ('order_1', 1)").await;
    arrives(&inbox, "evt_1", "shipped", "order_1").await;
    arrives(&inbox, "evt_2", "paid", "order_1").await;
    work_through(&inbox).await;
    let all = ["evt_1 PROCESSED applied", "evt_2 PROCESSED overtaken"];
    assert_eq!(stands(&bed.store).await, all);
    assert_eq!(bed.store.texts(STATES).await, ["order_1 2"]);
}

async fn what_the_handler_undoes_the_table_does_not_keep<S: Sql>(bed: Bed<S>)
where
    Shop: Handler<S::Tx>,
    Orders: Keeper<S::Tx>,
{
    let shop = Shop::default();
    shop.turns("order_1", Some(crate::shop::Turn::Fails));
    let inbox = kept_by_the_shop(&bed, &shop);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    work_through(&inbox).await;
    assert_eq!(bed.store.count(STATES).await, 0);
    assert_eq!(effects(&bed.store).await.len(), 0);
}

/// An API that knows of one state, or does not answer.
#[derive(Clone, Default)]
struct Api {
    state: Option<State>,
    asked: Arc<AtomicU64>,
}

impl Authority for Api {
    async fn fetch(&self, _: &Named<'_>) -> Result<Fetched, HandlerError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let state = self.state.ok_or_else(|| HandlerError::infrastructure("no answer"))?;
        Ok(Fetched { state, version: 0 })
    }
}

fn asking<S: Sql>(bed: &Bed<S>, api: &Api) -> Inbox<S> {
    let rule = |event, from, to| Rule {
        event,
        from: States::of(&[State(from)]),
        to: State(to),
        books: None,
        external: false,
    };
    let rules = vec![rule(PAID, 0, 1), rule(SHIPPED, 1, 2)];
    let model = Model::declare(3, Kind::Latest, Order::Graph, Early::Refetch, rules).unwrap();
    let orders = EntityType::new("order", model)
        .moves("order.paid", PAID)
        .moves("order.shipped", SHIPPED)
        .resource_at("/data/order")
        .authority(api.clone());
    setup(bed).source(partner()).entity(orders).open().unwrap()
}

async fn an_early_event_is_answered_by_the_api<S: Sql>(bed: Bed<S>) {
    let api = Api { state: Some(State(2)), ..Api::default() };
    let inbox = asking(&bed, &api);
    arrives(&inbox, "evt_2", "shipped", "order_1").await;
    assert_eq!(work_through(&inbox).await, [Ran::Worked(Worked::Done(End::Applied))]);
    assert_eq!(api.asked.load(Ordering::SeqCst), 1);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    assert_eq!(work_through(&inbox).await, [Ran::Worked(Worked::Done(End::Overtaken))]);
    let state = "SELECT CAST(state AS TEXT) FROM hookproof_entities";
    assert_eq!(bed.store.texts(state).await, ["2"]);
}

async fn an_api_that_does_not_answer_leaves_the_event_waiting<S: Sql>(bed: Bed<S>) {
    let api = Api::default();
    let inbox = asking(&bed, &api);
    arrives(&inbox, "evt_2", "shipped", "order_1").await;
    work_through(&inbox).await;
    assert_eq!(stands(&bed.store).await, ["evt_2 DEFERRED"]);
    arrives(&inbox, "evt_1", "paid", "order_1").await;
    work_through(&inbox).await;
    let all = ["evt_1 PROCESSED applied", "evt_2 PROCESSED applied"];
    assert_eq!(stands(&bed.store).await, all);
}
