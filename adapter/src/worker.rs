//! The worker: claims what is due, holds each event against its entity, runs its handler, and records
//! what came of it. The decisions are the core's; here they are loaded for, committed and acted on.

use std::{future::Future, pin::pin, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, future::FusedFuture};
use hookproof_core::{
    handler::HandlerError,
    inbox::Receipt,
    model::{Entity, Proposal},
    plan::Plan,
    work::{Claim, Failed, Fault, Fetched, Ground, Job, Worked},
};
use tokio::{
    task::{JoinError, JoinSet},
    time::{Instant, timeout},
};

use crate::{
    commit::{Table, commit, commit_each, commit_kept},
    crash::{self, Point},
    entity::{EntityType, FETCH_LIMIT, Named},
    error::Error,
    ident,
    inbox::{CONFLICTS_MAX, Inbox},
    store::{Content, Keys, Letter, Store},
};

/// A claimed receipt, and what it proposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    job: Job,
    proposal: Proposal,
}

/// What came of working on a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// The work was recorded.
    Worked(Worked),
    /// It failed, and that was recorded.
    Failed(Fault, Failed),
    /// Somebody else has taken the receipt over, or it is gone: theirs to record.
    TakenOver,
    /// Nothing could be recorded. The claim has scheduled the next try.
    Unrecorded,
}

impl<S: Store> Inbox<S> {
    /// Claims receipts that are due, at most so many: no more than can be started now.
    pub async fn take(&self, most: u16) -> Result<Vec<Taken>, Error> {
        let mut tx = self.store.begin().await?;
        let now = self.store.now(&mut tx).await?;
        let due = self.store.due_receipts(&mut tx, most, now).await?;
        let (proposals, plans): (Vec<_>, Vec<_>) = due
            .iter()
            .filter_map(|row| Some((row.proposal?, row.claim(now, &self.policy)?)))
            .unzip();
        let claims = commit_each(&self.store, tx, plans, &[]).await;
        crash::here(Point::AfterTake).await;
        let mut taken = Vec::new();
        let mut failed = None;
        for (claim, proposal) in claims.into_iter().zip(proposals) {
            match claim {
                Ok(Claim::Work(job)) => taken.push(Taken { job, proposal }),
                Ok(Claim::SetAside) | Err(Error::Conflict) => {}
                Err(error) => failed = Some(error),
            }
        }
        // What was claimed is worked on, whatever became of the others.
        failed.filter(|_| taken.is_empty()).map_or(Ok(taken), Err)
    }

    /// Works on a claimed receipt until something of it is recorded.
    pub async fn work(&self, taken: Taken) -> Ran {
        let Some(of) = self.type_of(taken.proposal.event) else {
            let event = taken.proposal.event.0;
            tracing::warn!(event, "an event of a version that knows more than this one");
            return self.fail(taken, Fault::Event).await;
        };
        let mut word = Word::Event;
        let mut tries = 0;
        loop {
            match self.try_work(taken, of, word).await {
                Ok(None) => return Ran::TakenOver,
                Ok(Some(Worked::Refetch)) => word = Word::Api(self.fetch(taken, of).await),
                Ok(Some(worked)) => {
                    crash::here(Point::AfterWork).await;
                    return Ran::Worked(worked);
                }
                Err(Error::Conflict) if tries < CONFLICTS_MAX => tries += 1,
                // Whether it is in is for the row to say.
                Err(Error::Unknown(fault)) if tries < CONFLICTS_MAX => {
                    tracing::warn!(%fault, "the answer of a commit was lost");
                    tries += 1;
                    self.pause().await;
                }
                Err(Error::Handler(error)) => {
                    tracing::warn!(receipt = %shown(taken), %error, "an event's handler failed");
                    return self.fail(taken, error.fault()).await;
                }
                Err(error) => {
                    tracing::warn!(receipt = %shown(taken), %error, "an event was not worked on");
                    return self.fail(taken, Fault::Infrastructure).await;
                }
            }
        }
    }

    /// One try; `None`: the claim was taken over.
    async fn try_work(
        &self,
        taken: Taken,
        of: &EntityType<S::Tx>,
        word: Word,
    ) -> Result<Option<Worked>, Error> {
        let mut tx = self.store.begin().await?;
        let (entity, receipt) = (taken.proposal.entity, taken.job.receipt());
        let keys = Keys { entities: vec![entity], receipts: vec![receipt], ..Keys::default() };
        let rows = self.store.load(&mut tx, &keys).await?;
        let (Some(entity), Some(row)) = (rows.entities.first(), rows.receipts.first()) else {
            return self.store.rollback(tx).await.map(|()| None);
        };
        let letter = self.store.letter(&mut tx, receipt).await?.ok_or(Error::Conflict)?;
        let table = of.keeper.as_deref().map(|keeper| (keeper, named(of, &letter)));
        let entity = self.under_lock(&mut tx, *entity, table).await?;
        let booked = match of.model.operation(&taken.proposal) {
            Some(operation) => self.store.is_booked(&mut tx, operation).await?,
            None => false,
        };
        let outside = self.outside.map(|target| (target, self.host.id()));
        let ground = Ground { entity: &entity, model: &of.model, booked, outside };
        let now = self.store.now(&mut tx).await?;
        let policy = &self.policy;
        let plan: Option<Plan<Worked>> = match word {
            Word::Event => taken.job.work(row, &ground, now, policy),
            Word::Api(fetched) => taken.job.fetched(row, &ground, fetched, now, policy),
        };
        let Some(plan) = plan else { return self.store.rollback(tx).await.map(|()| None) };
        let handler = of.handles(taken.proposal.event).within(S::HANDLER_LIMIT);
        commit_kept(&self.store, tx, plan, row, &handler, table).await.map(Some)
    }

    /// The entity as the work finds it: where the application keeps its state, that is the truth.
    async fn under_lock(
        &self,
        tx: &mut S::Tx,
        ours: Entity,
        table: Option<Table<'_, S::Tx>>,
    ) -> Result<Entity, Error> {
        let Some((keeper, entity)) = table else { return Ok(ours) };
        let kept = timeout(S::HANDLER_LIMIT, keeper.load(tx, &entity)).await;
        let waited = |_| HandlerError::infrastructure("the entity's row was locked for too long");
        let kept = kept.map_err(waited).and_then(|kept| kept).map_err(Error::Handler)?;
        Ok(Entity { state: kept.state, version: kept.version, ..ours })
    }

    /// Asks the authoritative API, outside of any transaction; `None`: it has no answer in time.
    async fn fetch(&self, taken: Taken, of: &EntityType<S::Tx>) -> Option<Fetched> {
        let authority = of.authority.as_ref()?;
        let letter = self.letter_of(taken).await.ok()??;
        let asked = timeout(FETCH_LIMIT, authority.fetch(&named(of, &letter))).await;
        match asked {
            Ok(Ok(fetched)) => Some(fetched),
            Ok(Err(error)) => {
                tracing::warn!(receipt = %shown(taken), %error, "the authoritative API failed");
                None
            }
            Err(_) => {
                tracing::warn!(receipt = %shown(taken), "the authoritative API did not answer");
                None
            }
        }
    }

    async fn letter_of(&self, taken: Taken) -> Result<Option<Letter>, Error> {
        let mut tx = self.store.begin().await?;
        let letter = self.store.letter(&mut tx, taken.job.receipt()).await?;
        self.store.rollback(tx).await?;
        Ok(letter)
    }

    /// Records a failure, in a transaction of its own. While that cannot be done it is tried again.
    async fn fail(&self, taken: Taken, fault: Fault) -> Ran {
        for _ in 0..CONFLICTS_MAX {
            match self.try_fail(taken.job, fault).await {
                Ok(Some(failed)) => return Ran::Failed(fault, failed),
                Ok(None) => return Ran::TakenOver,
                Err(Error::Conflict) => {}
                Err(error) => {
                    tracing::warn!(receipt = %shown(taken), %error, "a failure was not recorded");
                    self.pause().await;
                }
            }
        }
        Ran::Unrecorded
    }

    async fn try_fail(&self, job: Job, fault: Fault) -> Result<Option<Failed>, Error> {
        let mut tx = self.store.begin().await?;
        let keys = Keys { receipts: vec![job.receipt()], ..Keys::default() };
        let rows = self.store.load(&mut tx, &keys).await?;
        let now = self.store.now(&mut tx).await?;
        let fail = |row: &Receipt| job.fail(row, fault, now, self.host.roll(), &self.policy);
        let Some(plan) = rows.receipts.first().and_then(fail) else {
            return self.store.rollback(tx).await.map(|()| None);
        };
        commit(&self.store, tx, plan, Content::None).await.map(Some)
    }

    async fn pause(&self) {
        tokio::time::sleep(self.pause_time()).await;
    }

    fn pause_time(&self) -> Duration {
        Duration::from_millis(self.policy.pause_ms)
    }
}

/// What a decision is asked about.
#[derive(Clone, Copy)]
enum Word {
    /// What the event says.
    Event,
    /// What the authoritative API says.
    Api(Option<Fetched>),
}

fn named<'a, Tx>(of: &'a EntityType<Tx>, letter: &'a Letter) -> Named<'a> {
    Named { account: &letter.account, entity_type: &of.name, resource: &letter.resource }
}

fn shown(taken: Taken) -> String {
    ident::shown(taken.job.receipt())
}

/// A loop over an [`Inbox`]: as many as are wanted, in as many processes.
pub struct Worker<S: Store> {
    inbox: Arc<Inbox<S>>,
    at_once: u16,
    poll: Duration,
}

impl<S: Store + Send + 'static> Worker<S> {
    /// A worker with eight events in hand at most, that looks for more every second.
    pub fn new(inbox: Arc<Inbox<S>>) -> Self {
        Self { inbox, at_once: 8, poll: Duration::from_secs(1) }
    }

    /// How many events it works on at once; each takes a connection of the store's.
    #[must_use]
    pub fn at_once(self, at_once: u16) -> Self {
        Self { at_once: at_once.max(1), ..self }
    }

    /// How often it looks when nobody rings.
    #[must_use]
    pub fn poll(self, poll: Duration) -> Self {
        Self { poll, ..self }
    }

    /// Works until `stop` is ready, and ends what it has begun. Dropping it instead loses nothing that
    /// was committed.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop.fuse());
        let mut running = JoinSet::new();
        let mut more = true;
        let mut resume = Instant::now();
        while !stop.is_terminated() {
            let free = self.at_once - running.len() as u16;
            if more && free > 0 && Instant::now() >= resume {
                // What is being claimed is not let go of half-way: it would be nobody's for a while.
                match beside(Box::pin(self.inbox.take(free)), &mut stop).await {
                    Ok(taken) => {
                        more = taken.len() == usize::from(free);
                        for taken in taken {
                            let inbox = Arc::clone(&self.inbox);
                            running.spawn(async move { inbox.work(taken).await });
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "the worker pauses: nothing could be claimed");
                        resume = Instant::now() + self.inbox.pause_time();
                    }
                }
            }
            if stop.is_terminated() {
                break;
            }
            let paused = resume.saturating_duration_since(Instant::now());
            let look = if paused.is_zero() { self.poll } else { paused };
            let unfounded = tokio::select! {
                () = &mut stop => false,
                Some(ran) = running.join_next() => is_unfounded(&ran),
                () = self.inbox.bell.wait(look) => {
                    more = true;
                    false
                }
            };
            if unfounded {
                resume = Instant::now() + self.inbox.pause_time();
                more = true;
            }
        }
        while running.join_next().await.is_some() {}
    }
}

/// Awaits one future to its end, and meanwhile another one too.
async fn beside<T>(
    mut first: impl Future<Output = T> + Unpin,
    second: &mut (impl FusedFuture<Output = ()> + Unpin),
) -> T {
    loop {
        tokio::select! {
            done = &mut first => return done,
            () = &mut *second, if !second.is_terminated() => {}
        }
    }
}

/// A fault of the infrastructure is no event's in particular: the worker waits before it goes on (R10).
fn is_unfounded(ran: &Result<Ran, JoinError>) -> bool {
    match ran {
        Ok(Ran::Failed(Fault::Infrastructure, _) | Ran::Unrecorded) | Err(_) => true,
        Ok(Ran::Worked(_) | Ran::Failed(Fault::Event, _) | Ran::TakenOver) => false,
    }
}
