//! Hints between processes, by LISTEN and NOTIFY: never the truth, and never more than one at a time.

use std::{convert::Infallible, time::Duration};

use sqlx::postgres::PgListener;

use super::PgStore;
use crate::{bell::Bell, ident};

impl PgStore {
    /// Carries the rings of a bell to every process that listens on this channel, and theirs to the bell,
    /// for as long as it is polled. It takes two connections, one of them for good.
    ///
    /// A NOTIFY within a transaction makes all such commits wait for each other, so this is one of its own,
    /// and what is rung meanwhile is one more. What is lost while there is no connection costs a poll.
    pub async fn carry_hints(&self, bell: &Bell, channel: &str) -> Infallible {
        // Whoever rings has looked already.
        let own = ident::shown(ident::fresh());
        loop {
            if let Err(error) = self.carry_once(bell, channel, &own).await {
                tracing::warn!(%error, channel, "hints are not carried; polls go on");
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    async fn carry_once(&self, bell: &Bell, channel: &str, own: &str) -> Result<(), sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen(channel).await?;
        loop {
            tokio::select! {
                heard = listener.recv() => {
                    if heard?.payload() != own {
                        bell.hear();
                    }
                }
                () = bell.rung_here() => {
                    let notify = sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(own);
                    notify.execute(&self.pool).await?;
                }
            }
        }
    }
}

/// How long until a lost connection is asked for again.
const AGAIN: Duration = Duration::from_secs(1);
