//! A bell between those who commit and those who wait: a hint, never the truth. A ring that is lost costs
//! the wait until the next poll.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;

/// Rung after a commit that leaves something due.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<Ropes>);

#[derive(Debug, Default)]
struct Ropes {
    /// For those who wait in this process.
    near: Notify,
    /// For whoever tells other processes.
    far: Notify,
}

impl Bell {
    /// Something is due, and this process made it so.
    pub fn ring(&self) {
        self.0.near.notify_one();
        self.0.far.notify_one();
    }

    /// Something is due, another process says.
    pub fn hear(&self) {
        self.0.near.notify_one();
    }

    /// Waits until it rings, or for one poll.
    pub async fn wait(&self, poll: Duration) {
        // Whether it rang or not, the next thing is to look.
        let _ = tokio::time::timeout(poll, self.0.near.notified()).await;
    }

    /// Waits until this process rang it. Rings that come before the next call are one.
    pub async fn rung_here(&self) {
        self.0.far.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_ring_before_the_wait_is_not_lost_and_many_are_one() {
        let bell = Bell::default();
        bell.ring();
        bell.ring();
        bell.rung_here().await;
        bell.wait(Duration::MAX).await;
        tokio::select! {
            biased;
            () = bell.rung_here() => panic!("two rings are one"),
            () = std::future::ready(()) => {}
        }
    }

    #[tokio::test]
    async fn what_another_process_rang_is_not_told_again() {
        let bell = Bell::default();
        bell.hear();
        bell.wait(Duration::MAX).await;
        tokio::select! {
            biased;
            () = bell.rung_here() => panic!("it was rung elsewhere"),
            () = std::future::ready(()) => {}
        }
    }
}
