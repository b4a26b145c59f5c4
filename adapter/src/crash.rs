//! Named places at which a process can die, and nothing at all in production.
//!
//! A place is `crash::here(Point::…).await`, which costs nothing without the feature `crash-points`. With
//! it a test runs a future `until` it comes to a place, and drops it there, with all that it had in
//! memory: that is a crash, as far as the database can tell.

/// A place between two steps, after which nothing of the process is left but what it committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A delivery is claimed; nothing is sent.
    AfterClaim,
    /// A request was sent; no answer is here.
    AfterSend,
    /// The answer is here; nobody wrote it down.
    AfterResponse,
    /// A request is verified; nothing is stored.
    AfterVerify,
    /// Everything is written within the transaction.
    BeforeCommit,
    /// A receipt is stored; nobody was told.
    AfterReceipt,
    /// A receipt is claimed for work; nothing was done.
    AfterTake,
    /// The handler has done its part within the transaction.
    AfterEffect,
    /// Somebody outside did what was asked, under its key; nobody wrote it down.
    AfterExternalCall,
    /// The work is committed.
    AfterWork,
    /// The deliveries of an event are inserted; the event is still due.
    HalfFanOut,
}

#[cfg(feature = "crash-points")]
pub use self::armed::{here, until};

/// A place. Nothing happens here.
#[cfg(not(feature = "crash-points"))]
#[inline]
#[expect(clippy::unused_async, reason = "with the feature it waits")]
pub async fn here(_: Point) {}

#[cfg(feature = "crash-points")]
mod armed {
    use std::{
        cell::Cell,
        future::{Future, pending, poll_fn},
        pin::pin,
        task::Poll,
    };

    use super::Point;

    tokio::task_local! {
        static PLAN: Plan;
    }

    /// Where to end, and whether that was reached.
    struct Plan {
        at: Point,
        /// How often the place is passed by first.
        spared: Cell<u32>,
        reached: Cell<bool>,
    }

    /// A place. A future that was sent [`until`] here stays here.
    pub async fn here(point: Point) {
        let ends = PLAN.try_with(|plan| {
            if plan.at != point {
                return false;
            }
            let spared = plan.spared.get();
            plan.spared.set(spared.saturating_sub(1));
            plan.reached.set(spared == 0);
            spared == 0
        });
        if ends == Ok(true) {
            pending::<()>().await;
        }
    }

    /// Runs a future until it comes to this place, having passed it `spared` times, and drops it there.
    /// `Some`: it ended without coming there.
    pub async fn until<F: Future>(at: Point, spared: u32, future: F) -> Option<F::Output> {
        let plan = Plan { at, spared: Cell::new(spared), reached: Cell::new(false) };
        PLAN.scope(plan, async {
            let mut future = pin!(future);
            poll_fn(|cx| match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if PLAN.with(|plan| plan.reached.get()) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            })
            .await
        })
        .await
    }
}
