//! A sender: its endpoints with their secrets, the steps of its relay, and what people may do.
//!
//! Events come in by [`crate::outbox::enqueue`] or by a plain insert, in the transaction that changes the
//! business. What happens to them then is the relay's: see [`Outbox::fan_out`].

mod endpoints;
mod parcel;
mod relay;

use core::future::Future;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use hookproof_core::{
    Id, Millis, Reason,
    outbox::{Delivery, NotResent, Resent, Subject},
    plan::Plan,
    profile::Profile,
    scheme::{self, Scheme, Window},
    target::TargetPolicy,
};

pub use self::{
    endpoints::{NewEndpoint, NotRegistered, OVERLAP_MS},
    parcel::Sending,
    relay::{Claimed, Settled},
};
use crate::{
    bell::Bell,
    commit::commit,
    error::Error,
    host::{Host, Machine},
    inbox::NotDone,
    store::{Content, Keys, Message, Store},
    vault::Vault,
};

/// A sender on a store.
pub struct Outbox<S: SenderStore> {
    pub(crate) store: S,
    pub(crate) profile: Profile,
    vault: Vault,
    scheme: Scheme,
    ids: IdScope,
    targets: TargetPolicy,
    host: Arc<dyn Host>,
    bell: Bell,
    /// Where the next look at lanes begins, and where the next sweep does: each in its turn.
    turns: Mutex<Turns>,
}

#[derive(Clone, Copy, Default)]
struct Turns {
    lane: Option<Id>,
    sweep: Option<Id>,
}

/// What the delivery id of a request is made from (S3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdScope {
    /// The event: every endpoint hears of it under one id, as Standard Webhooks has it.
    #[default]
    Event,
    /// The delivery: each endpoint has an id of its own.
    Delivery,
}

/// What a sender's store keeps besides the rows of decisions.
pub trait SenderStore: Store {
    /// Where the deliveries of these endpoints go, and what signs them.
    fn addresses(
        &self,
        tx: &mut Self::Tx,
        endpoints: &BTreeSet<Id>,
    ) -> impl Future<Output = Result<Vec<Address>, Error>> + Send;

    /// The first byte of each secret as it is stored, which tells whether it is sealed.
    fn secret_forms(
        &self,
        tx: &mut Self::Tx,
    ) -> impl Future<Output = Result<Vec<Vec<u8>>, Error>> + Send;

    /// Events as they were published.
    fn messages(
        &self,
        tx: &mut Self::Tx,
        events: &BTreeSet<Id>,
    ) -> impl Future<Output = Result<Vec<Message>, Error>> + Send;

    /// Every delivery of these events, without a lock.
    fn deliveries_of(
        &self,
        tx: &mut Self::Tx,
        events: &BTreeSet<Id>,
    ) -> impl Future<Output = Result<Vec<Delivery>, Error>> + Send;

    /// Events that are fanned out and not marked, with a key after this one, in order, without a lock.
    fn unmarked(
        &self,
        tx: &mut Self::Tx,
        after: Option<Id>,
        most: u16,
    ) -> impl Future<Output = Result<Vec<Id>, Error>> + Send;

    /// The types that an endpoint is subscribed to now.
    fn event_types(
        &self,
        tx: &mut Self::Tx,
        endpoint: Id,
    ) -> impl Future<Output = Result<Vec<String>, Error>> + Send;

    /// Changes what is kept of an endpoint that the transaction holds, or is about to insert.
    fn change(
        &self,
        tx: &mut Self::Tx,
        endpoint: Id,
        change: Change<'_>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Where an endpoint's deliveries go, and what signs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The endpoint.
    pub endpoint: Id,
    /// Whose it is.
    pub account: String,
    /// Where to.
    pub url: String,
    /// Its secrets, sealed, in the order in which they began.
    pub secrets: Vec<Sealed>,
}

/// A secret as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The row's key.
    pub id: Id,
    /// The sealed text.
    pub bytes: Vec<u8>,
    /// When it counts.
    pub window: Window,
}

impl core::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Sealed").field("window", &self.window).finish_non_exhaustive()
    }
}

/// One change to what is kept of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Change<'a> {
    /// Its deliveries go elsewhere.
    Url(&'a str),
    /// Why it takes none, in the words of a person.
    Reason(Option<&'a str>),
    /// It wants events of this type.
    Subscribe { event_type: &'a str, now: Millis },
    /// It wants none any more.
    Unsubscribe { event_type: &'a str, now: Millis },
    /// It has one more secret.
    Secret(&'a Sealed),
    /// A secret of its counts at another time.
    Window { secret: Id, window: Window },
}

impl<S: SenderStore> Outbox<S> {
    /// A sender with the contract's profile, that signs as Standard Webhooks does.
    pub fn new(store: S, vault: Vault) -> Self {
        let Some(scheme) = scheme::named("standard-webhooks") else {
            unreachable!("the default scheme is one of the rows")
        };
        Self {
            store,
            vault,
            profile: Profile::hookproof(),
            scheme: scheme.clone(),
            ids: IdScope::default(),
            targets: TargetPolicy::default(),
            host: Arc::new(Machine),
            bell: Bell::default(),
            turns: Mutex::default(),
        }
    }

    /// Sends in this way.
    #[must_use]
    pub fn profile(self, profile: Profile) -> Self {
        Self { profile, ..self }
    }

    /// Signs in this way.
    #[must_use]
    pub fn scheme(self, scheme: Scheme) -> Self {
        Self { scheme, ..self }
    }

    /// Makes delivery ids of this scope.
    #[must_use]
    pub fn ids(self, ids: IdScope) -> Self {
        Self { ids, ..self }
    }

    /// Allows these targets besides public HTTPS.
    #[must_use]
    pub fn targets(self, targets: TargetPolicy) -> Self {
        Self { targets, ..self }
    }

    /// Takes time and chance from this machine.
    #[must_use]
    pub fn host(self, host: Arc<dyn Host>) -> Self {
        Self { host, ..self }
    }

    /// What takes the hints of publishers to the relay, and to other processes. Ring it after a commit
    /// that published something.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Which targets are allowed: for whoever dials.
    pub fn target_policy(&self) -> &TargetPolicy {
        &self.targets
    }

    /// Has a delivery sent again (S11): a new cycle where none is open, else its next attempt now. Whether
    /// this person may is for the application to say.
    pub async fn resend(&self, delivery: Id, by: Id) -> Result<Resent, NotDone<NotResent>> {
        loop {
            let mut tx = self.store.begin().await?;
            let plan = match self.plan_resend(&mut tx, delivery, by).await {
                Ok(plan) => plan,
                Err(refused) => {
                    self.store.rollback(tx).await?;
                    return Err(refused);
                }
            };
            match commit(&self.store, tx, plan, Content::None).await {
                Err(Error::Conflict) => {}
                Err(error) => return Err(error.into()),
                Ok(resent) => {
                    self.bell.ring();
                    return Ok(resent);
                }
            }
        }
    }

    async fn plan_resend(
        &self,
        tx: &mut S::Tx,
        delivery: Id,
        by: Id,
    ) -> Result<Plan<Resent>, NotDone<NotResent>> {
        let keys = Keys { deliveries: vec![delivery], ..Keys::default() };
        let rows = self.store.load(tx, &keys).await?;
        let row = rows.deliveries.first().ok_or(NotDone::Unknown)?;
        let endpoint = self.store.endpoint(tx, row.endpoint).await?.ok_or(NotDone::Unknown)?;
        let now = self.store.now(tx).await?;
        row.resend(&endpoint, by, now, &self.profile).map_err(NotDone::Refused)
    }

    /// Ends an open delivery. `false`: it has ended already.
    pub async fn cancel(&self, delivery: Id) -> Result<bool, Error> {
        loop {
            let mut tx = self.store.begin().await?;
            let keys = Keys { deliveries: vec![delivery], ..Keys::default() };
            let rows = self.store.load(&mut tx, &keys).await?;
            let plan = rows.deliveries.first().and_then(|row| row.cancel(Reason::Operator));
            let Some(plan) = plan else { return self.store.rollback(tx).await.map(|()| false) };
            match commit(&self.store, tx, plan, Content::None).await {
                Err(Error::Conflict) => {}
                done => return done.map(|()| true),
            }
        }
    }

    fn turn<T>(&self, take: impl FnOnce(&mut Turns) -> T) -> T {
        take(&mut self.turns.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The deliveries of one event among those of several.
pub(crate) fn of_event(deliveries: &[Delivery], event: Id) -> Vec<Delivery> {
    let of = |row: &&Delivery| row.subject == Subject::Event(event);
    deliveries.iter().filter(of).copied().collect()
}
