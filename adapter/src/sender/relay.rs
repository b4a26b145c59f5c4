//! The relay's steps: fan out, claim, start, settle, sweep. Whoever calls them dials and waits; every
//! decision in between is the core's.
//!
//! ```text
//! loop { fan_out; for each of claim { start → send it → settle }; sweep; wait for the bell or a poll }
//! ```

use std::{collections::BTreeSet, time::Duration};

use hookproof_core::{
    Id, Millis,
    endpoint::{Admission, Lane},
    outbox::{Attempt, Claim, Delivery, Ended, Event, Request, Stand, Subject},
    plan::{Plan, Write},
};
use tokio::time::Instant;

use super::{
    Outbox, SenderStore, of_event,
    parcel::{Parcel, Sending},
};
use crate::{
    commit::{commit, commit_each},
    crash::{self, Point},
    error::Error,
    ident,
    inbox::CONFLICTS_MAX,
    store::{Content, Keys},
};

/// A claimed delivery, nothing sent yet.
#[derive(Debug)]
pub struct Claimed {
    attempt: Attempt,
    parcel: Result<Parcel, String>,
    /// When the claim was asked for, by the process; and when it was made, by the database.
    asked: Instant,
    now: Millis,
}

/// What came of settling a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The delivery stands so.
    Stands(Stand),
    /// The claim was taken over: whoever took it decides (S5).
    TakenOver,
}

impl<S: SenderStore> Outbox<S> {
    /// Makes the deliveries of events that are due, at most so many events. Gives how many deliveries.
    pub async fn fan_out(&self, most: u16) -> Result<usize, Error> {
        let mut tx = self.store.begin().await?;
        let now = self.store.now(&mut tx).await?;
        let events = self.store.due_events(&mut tx, most, now).await?;
        let mut plans = Vec::new();
        for event in events {
            let subscribers = self.store.subscribers(&mut tx, event.id).await?;
            let keyed: Vec<_> =
                subscribers.into_iter().map(|endpoint| (endpoint, self.host.id())).collect();
            plans.extend(event.fan_out(&keyed, now));
        }
        let made = commit_each(&self.store, tx, plans, &[]).await;
        let made = made.into_iter().filter(|made| made != &Err(Error::Conflict));
        Ok(made.collect::<Result<Vec<usize>, Error>>()?.into_iter().sum())
    }

    /// Claims deliveries that are due, at most so many: no more than can be started now.
    pub async fn claim(&self, most: u16) -> Result<Vec<Claimed>, Error> {
        let asked = Instant::now();
        let mut tx = self.store.begin().await?;
        let lanes = self.next_lanes(&mut tx).await?;
        let now = self.store.now(&mut tx).await?;
        let looks: Vec<(Id, u16)> =
            lanes.iter().map(|lane| (lane.endpoint.id, self.look(lane, now))).collect();
        let due = self.store.due_deliveries(&mut tx, &looks, now).await?;
        let mut claims = Vec::new();
        let mut seen = 0;
        while let Some(lane) = lanes.get(seen).filter(|_| claims.len() < usize::from(most)) {
            let due = due.iter().filter(|row| row.endpoint == lane.endpoint.id);
            let free = usize::from(most) - claims.len();
            claims.extend(self.claims_of(*lane, due, now).into_iter().take(free));
            seen += 1;
        }
        // The next look begins behind what this one has seen: no lane waits for another (S8).
        let all = seen == lanes.len() && seen < usize::from(LANES);
        let last = seen.checked_sub(1).map(|at| lanes[at].endpoint.id);
        self.turn(|turns| turns.lane = last.filter(|_| !all));
        let parcels = self.parcels(&mut tx, &claims).await?;
        let plans = claims.into_iter().map(|(_, plan)| plan).collect();
        let claimed = commit_each(&self.store, tx, plans, &[]).await;
        crash::here(Point::AfterClaim).await;
        let mut attempts = Vec::new();
        let mut failed = None;
        for (claim, parcel) in claimed.into_iter().zip(parcels) {
            match claim {
                Ok(Claim::Send(attempt)) => attempts.push(Claimed { attempt, parcel, asked, now }),
                Ok(Claim::Failed | Claim::Cancelled) | Err(Error::Conflict) => {}
                Err(error) => failed = Some(error),
            }
        }
        // What was claimed is sent, whatever became of the others.
        failed.filter(|_| attempts.is_empty()).map_or(Ok(attempts), Err)
    }

    /// The lanes behind those that were seen, or else the first ones.
    async fn next_lanes(&self, tx: &mut S::Tx) -> Result<Vec<Lane>, Error> {
        let after = self.turn(|turns| turns.lane);
        let lanes = self.store.lanes(tx, after, LANES).await?;
        if lanes.is_empty() && after.is_some() {
            return self.store.lanes(tx, None, LANES).await;
        }
        Ok(lanes)
    }

    /// How many rows of a lane are looked at.
    fn look(&self, lane: &Lane, now: Millis) -> u16 {
        match lane.admit(now, &self.profile) {
            Admission::Open(_) => self.profile.slots.saturating_sub(lane.in_flight),
            Admission::Shut => LOOK_SHUT,
            Admission::Gone => LOOK_GONE,
        }
    }

    /// Claims on one lane, each decided on what the one before leaves.
    fn claims_of<'a>(
        &self,
        mut lane: Lane,
        due: impl Iterator<Item = &'a Delivery>,
        now: Millis,
    ) -> Vec<(Delivery, Plan<Claim>)> {
        let mut claims = Vec::new();
        for row in due {
            let claim = row.claim(&lane, now, self.host.roll(), &self.profile);
            if let Some(plan) = claim {
                lane = after(lane, &plan);
                claims.push((*row, plan));
            }
        }
        claims
    }

    /// What each claim carries, loaded with it: a change of URL or secret counts from the next claim.
    async fn parcels(
        &self,
        tx: &mut S::Tx,
        claims: &[(Delivery, Plan<Claim>)],
    ) -> Result<Vec<Result<Parcel, String>>, Error> {
        let endpoints: BTreeSet<Id> = claims.iter().map(|(row, _)| row.endpoint).collect();
        let addresses = self.store.addresses(tx, &endpoints).await?;
        let secrets = addresses.iter().flat_map(|address| &address.secrets);
        self.vault.expect_key(secrets.map(|secret| secret.bytes.as_slice()))?;
        let event = |row: &Delivery| match row.subject {
            Subject::Event(event) => Some(event),
            Subject::Effect(_) => None,
        };
        let events = claims.iter().filter_map(|(row, _)| event(row)).collect();
        let messages = self.store.messages(tx, &events).await?;
        let pack = |row: &Delivery| {
            let address = addresses.iter().find(|address| address.endpoint == row.endpoint);
            let address = address.ok_or("its endpoint is not there")?;
            let packed = self.pack(row, address, &messages).map_err(|error| error.to_string())?;
            packed.ok_or_else(|| "its event is not there".to_owned())
        };
        Ok(claims.iter().map(|(row, _)| pack(row)).collect())
    }

    /// Starts a claimed attempt: signs it, and says until when it may take. `None`: there is nothing to
    /// send; it was too late and was given back, or it cannot be sent and has climbed a rung.
    pub async fn start(&self, claimed: Claimed) -> Option<Sending> {
        let Claimed { attempt, parcel, asked, now } = claimed;
        let elapsed_ms = asked.elapsed().as_millis() as u64;
        let request = match attempt.start(elapsed_ms, &self.profile) {
            Ok(request) => request,
            Err(attempt) => {
                self.give_back(attempt).await;
                return None;
            }
        };
        let deadline = Instant::now() + Duration::from_millis(self.profile.time_limit_ms);
        let sealed =
            parcel.and_then(|parcel| self.seal(parcel, request, now + elapsed_ms, deadline));
        match sealed {
            Ok(sending) => Some(sending),
            Err(why) => {
                tracing::warn!(delivery = %shown(request), why, "a delivery cannot be sent");
                self.settle(request, Ended::Refused { retry_after_ms: None }).await;
                None
            }
        }
    }

    /// Gives a claim back unused, due at once: where a process stops, or has no connection free.
    pub async fn release(&self, claimed: Claimed) {
        self.give_back(claimed.attempt).await;
    }

    /// What cannot be given back stays claimed, and is on the ladder already.
    async fn give_back(&self, attempt: Attempt) {
        for _ in 0..CONFLICTS_MAX {
            match self.try_release(attempt).await {
                Ok(()) => return,
                Err(Error::Conflict) => {}
                Err(error) => {
                    tracing::warn!(%error, "a claim was not given back");
                    return;
                }
            }
        }
    }

    async fn try_release(&self, attempt: Attempt) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let keys = Keys { deliveries: vec![attempt.ticket().delivery], ..Keys::default() };
        let rows = self.store.load(&mut tx, &keys).await?;
        let now = self.store.now(&mut tx).await?;
        let plan = rows.deliveries.first().and_then(|row| attempt.release(row, now));
        let Some(plan) = plan else { return self.store.rollback(tx).await };
        commit(&self.store, tx, plan, Content::None).await
    }

    /// Records how a request ended, and tries until that is recorded or nobody's any more: an answer that
    /// is forgotten is a request that is made again. Dropping it is safe: the claim has scheduled that.
    /// [`hookproof_core::answer::ended`] reads an answer.
    pub async fn settle(&self, request: Request, ended: Ended) -> Settled {
        crash::here(Point::AfterResponse).await;
        loop {
            match self.try_settle(request, ended).await {
                Ok(Some(stand)) => return Settled::Stands(stand),
                Ok(None) => return Settled::TakenOver,
                Err(Error::Conflict) => {}
                Err(error) => {
                    tracing::warn!(delivery = %shown(request), %error, "an answer was not recorded");
                    tokio::time::sleep(SETTLE_PAUSE).await;
                }
            }
        }
    }

    async fn try_settle(&self, request: Request, ended: Ended) -> Result<Option<Stand>, Error> {
        let ticket = request.ticket();
        let mut tx = self.store.begin().await?;
        let endpoint = self.store.endpoint(&mut tx, ticket.endpoint).await?;
        let keys = Keys { deliveries: vec![ticket.delivery], ..Keys::default() };
        let rows = self.store.load(&mut tx, &keys).await?;
        let (Some(row), Some(endpoint)) = (rows.deliveries.first(), endpoint) else {
            return self.store.rollback(tx).await.map(|()| None);
        };
        if let Subject::Effect(_) = row.subject {
            crash::here(Point::AfterExternalCall).await;
        }
        let now = self.store.now(&mut tx).await?;
        let roll = self.host.roll();
        let plan = request.settle(row, &endpoint, ended, now, roll, &self.profile);
        let Some(plan) = plan else { return self.store.rollback(tx).await.map(|()| None) };
        commit(&self.store, tx, plan, Content::None).await.map(Some)
    }

    /// Marks events that everybody has, a page of those that are not marked at a time. Gives how many.
    pub async fn sweep(&self) -> Result<usize, Error> {
        let mut tx = self.store.begin().await?;
        let after = self.turn(|turns| turns.sweep);
        let events = self.store.unmarked(&mut tx, after, SWEEP).await?;
        let last = events.last().copied();
        self.turn(|turns| turns.sweep = last.filter(|_| events.len() == usize::from(SWEEP)));
        let deliveries =
            self.store.deliveries_of(&mut tx, &events.iter().copied().collect()).await?;
        let rows = self.store.load(&mut tx, &Keys { events, ..Keys::default() }).await?;
        let now = self.store.now(&mut tx).await?;
        let sweep = |event: &Event| event.sweep(&of_event(&deliveries, event.id), now);
        let plans = rows.events.iter().filter_map(sweep).collect();
        let swept = commit_each(&self.store, tx, plans, &[]).await;
        Ok(swept.into_iter().flatten().count())
    }
}

/// The lane as a claim leaves it, for the next one of the batch.
fn after(lane: Lane, plan: &Plan<Claim>) -> Lane {
    let mut next = lane;
    for write in plan.writes() {
        if let Write::Endpoint(put) = write {
            next.endpoint = put.row;
        }
        if let Write::Delivery(put) = write
            && let Stand::Claimed { .. } = put.row.stand
        {
            next.in_flight = next.in_flight.saturating_add(1);
        }
    }
    next
}

fn shown(request: Request) -> String {
    ident::shown(request.ticket().delivery)
}

/// As many lanes as one claim looks at; the next claim goes on behind them.
const LANES: u16 = 64;
/// As many rows of a lane that is shut: those whose cycle is used up end there.
const LOOK_SHUT: u16 = 4;
/// As many rows of a lane that is gone: each is cancelled.
const LOOK_GONE: u16 = 64;
/// As many events as one sweep looks at.
const SWEEP: u16 = 500;
/// How long a relay waits before it tells a database again.
const SETTLE_PAUSE: Duration = Duration::from_millis(500);
