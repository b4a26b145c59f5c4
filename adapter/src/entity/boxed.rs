//! Handlers, keepers and authorities of whatever type, and how long a handler may take.

use std::{future::Future, panic::AssertUnwindSafe, pin::Pin, time::Duration};

use futures_util::FutureExt as _;
use hookproof_core::{
    handler::{Handler, HandlerError, Incoming},
    work::Fetched,
};

use super::{Authority, Keeper, Kept, Named};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, HandlerError>> + Send + 'a>>;

/// A handler of whatever type.
pub(crate) trait AnyHandler<Tx>: Send + Sync {
    fn apply<'a>(&'a self, tx: &'a mut Tx, event: &'a Incoming<'a>) -> Boxed<'a, ()>;
}

impl<Tx: Send, H: Handler<Tx> + Send + Sync> AnyHandler<Tx> for H {
    fn apply<'a>(&'a self, tx: &'a mut Tx, event: &'a Incoming<'a>) -> Boxed<'a, ()> {
        Box::pin(Handler::apply(self, tx, event))
    }
}

/// A keeper of whatever type.
pub(crate) trait AnyKeeper<Tx>: Send + Sync {
    fn load<'a>(&'a self, tx: &'a mut Tx, entity: &'a Named<'a>) -> Boxed<'a, Kept>;
    fn store<'a>(&'a self, tx: &'a mut Tx, entity: &'a Named<'a>, kept: Kept) -> Boxed<'a, ()>;
}

impl<Tx: Send, K: Keeper<Tx>> AnyKeeper<Tx> for K {
    fn load<'a>(&'a self, tx: &'a mut Tx, entity: &'a Named<'a>) -> Boxed<'a, Kept> {
        Box::pin(Keeper::load(self, tx, entity))
    }

    fn store<'a>(&'a self, tx: &'a mut Tx, entity: &'a Named<'a>, kept: Kept) -> Boxed<'a, ()> {
        Box::pin(Keeper::store(self, tx, entity, kept))
    }
}

/// An authority of whatever type.
pub(crate) trait AnyAuthority: Send + Sync {
    fn fetch<'a>(&'a self, entity: &'a Named<'a>) -> Boxed<'a, Fetched>;
}

impl<A: Authority> AnyAuthority for A {
    fn fetch<'a>(&'a self, entity: &'a Named<'a>) -> Boxed<'a, Fetched> {
        Box::pin(Authority::fetch(self, entity))
    }
}

/// The handler of an event, or none: then there is nothing to do. It may take so long and no longer, and
/// a panic is an error like any other: one event must not hold up the others (R10).
pub(crate) struct Chosen<'a, Tx> {
    handler: Option<&'a dyn AnyHandler<Tx>>,
}

impl<'a, Tx> Chosen<'a, Tx> {
    pub(super) fn of(handler: Option<&'a dyn AnyHandler<Tx>>) -> Self {
        Self { handler }
    }

    pub(crate) fn within(self, limit: Duration) -> Bounded<'a, Tx> {
        Bounded { handler: self.handler, limit }
    }
}

/// [`Chosen`], within a limit.
pub(crate) struct Bounded<'a, Tx> {
    handler: Option<&'a dyn AnyHandler<Tx>>,
    limit: Duration,
}

impl<Tx: Send> Handler<Tx> for Bounded<'_, Tx> {
    async fn apply(&self, tx: &mut Tx, event: &Incoming<'_>) -> Result<(), HandlerError> {
        let Some(handler) = self.handler else { return Ok(()) };
        let applied = AssertUnwindSafe(handler.apply(tx, event)).catch_unwind();
        match tokio::time::timeout(self.limit, applied).await {
            Ok(Ok(applied)) => applied,
            Ok(Err(_)) => Err(HandlerError::event("its handler panicked")),
            Err(_) => {
                let limit = self.limit.as_millis();
                Err(HandlerError::event(format!("its handler took longer than {limit} ms")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hookproof_core::{
        Id,
        model::{EventType, Operation, Transition},
        work::Fault,
    };

    use super::*;

    struct Hangs;

    impl Handler<()> for Hangs {
        async fn apply(&self, (): &mut (), _: &Incoming<'_>) -> Result<(), HandlerError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn a_handler_that_hangs_is_ended_at_its_limit() {
        let event = Incoming {
            operation: Operation { entity: Id(1), transition: Transition(1), occurrence: 0 },
            event_type: EventType(1),
            name: "order.paid",
            resource: "order_1",
            entity: Id(1),
            occurrence: 0,
            version: 0,
            delivery: "evt_1",
            receipt: Id(1),
            payload: b"{}",
        };
        let handler = Chosen::of(Some(&Hangs)).within(Duration::from_millis(1));
        let applied = Handler::apply(&handler, &mut (), &event).await;
        let error = applied.expect_err("it never ends");
        assert_eq!(error.fault(), Fault::Event);
    }
}
