//! Endpoints: registered, paused, disabled, deleted, changed; and their secrets. What changes counts from
//! the next claim.

use core::fmt;

use hookproof_core::{
    Id, Millis,
    endpoint::{self, Endpoint, Life},
    scheme::{BadSecret, Secret, Window},
    target::{Denied, Target},
    time::DAY,
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{Address, Change, Outbox, Sealed, SenderStore};
use crate::{
    commit::commit,
    error::Error,
    store::{Callback, Content, Keys},
};

/// An endpoint that is to be registered.
#[derive(Clone, Debug)]
pub struct NewEndpoint {
    /// Whose events it gets.
    pub account: String,
    /// Where to.
    pub url: String,
    /// Which types of events; [`crate::EVERY_TYPE`] stands for all, none for the target of effects.
    pub event_types: Vec<String>,
    /// What signs for it; `None`: its requests carry no signature.
    pub secret: Option<SecretString>,
}

/// Why an endpoint or a secret was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRegistered {
    /// There is no such endpoint, or it was deleted.
    Unknown,
    /// The URL may not be called (S10).
    Target(Denied),
    /// The secret is none for the sender's scheme.
    Secret(BadSecret),
    /// The database did not do it.
    Store(Error),
}

impl fmt::Display for NotRegistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("there is no such endpoint, or it was deleted"),
            Self::Target(denied) => write!(f, "the URL may not be called: {denied}"),
            Self::Secret(bad) => bad.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotRegistered {}

impl From<Error> for NotRegistered {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl<S: SenderStore> Outbox<S> {
    /// Refuses a database whose secrets are sealed where the vault has no key: for a service to ask when it
    /// starts. [`Outbox::claim`] claims nothing then.
    pub async fn check_key(&self) -> Result<(), Error> {
        let mut tx = self.store.begin().await?;
        let forms = self.store.secret_forms(&mut tx).await?;
        self.store.rollback(tx).await?;
        self.vault.expect_key(forms.iter().map(Vec::as_slice))
    }

    /// Registers an endpoint, with its first secret in the same transaction. It gets what is fanned out
    /// from then on.
    pub async fn register(&self, new: &NewEndpoint) -> Result<Id, NotRegistered> {
        Target::parse(&new.url, &self.targets).map_err(NotRegistered::Target)?;
        let id = self.host.id();
        let mut tx = self.store.begin().await?;
        if let Some(text) = &new.secret {
            let from = self.store.now(&mut tx).await?;
            let sealed = self.sealed(text, from)?;
            self.store.change(&mut tx, id, Change::Secret(&sealed)).await?;
        }
        let NewEndpoint { account, url, event_types, .. } = new.clone();
        let callback = Callback { account, url, event_types };
        commit(&self.store, tx, endpoint::register(id), Content::Callback(&callback)).await?;
        Ok(id)
    }

    /// Takes no deliveries for a while; what is due waits. `false`, here and below: nothing to change.
    pub async fn pause(&self, endpoint: Id) -> Result<bool, Error> {
        self.turn_to(endpoint, Life::Paused, None).await
    }

    /// Takes no deliveries until it is enabled, for this reason; what is due waits. Where a receiver's
    /// answers disable an endpoint there is no reason, but an alert.
    pub async fn disable(&self, endpoint: Id, reason: &str) -> Result<bool, Error> {
        self.turn_to(endpoint, Life::Disabled, Some(reason)).await
    }

    /// Takes deliveries again.
    pub async fn enable(&self, endpoint: Id) -> Result<bool, Error> {
        let enabled = self.turn_to(endpoint, Life::Active, None).await?;
        self.bell.ring();
        Ok(enabled)
    }

    /// Gets no new deliveries, and open ones are cancelled. It may be enabled again.
    pub async fn unsubscribe(&self, endpoint: Id) -> Result<bool, Error> {
        self.turn_to(endpoint, Life::Unsubscribed, None).await
    }

    /// Gets no new deliveries, and open ones are cancelled. Nothing brings it back.
    pub async fn delete(&self, endpoint: Id) -> Result<bool, Error> {
        self.turn_to(endpoint, Life::Deleted, None).await
    }

    async fn turn_to(&self, id: Id, life: Life, reason: Option<&str>) -> Result<bool, Error> {
        let Some((mut tx, row, now)) = self.hold(id).await? else { return Ok(false) };
        let Some(plan) = row.turn(life, now) else {
            return self.store.rollback(tx).await.map(|()| false);
        };
        self.store.change(&mut tx, id, Change::Reason(reason)).await?;
        commit(&self.store, tx, plan, Content::None).await.map(|()| true)
    }

    /// Its deliveries go elsewhere, from the next claim on.
    pub async fn change_url(&self, endpoint: Id, url: &str) -> Result<(), NotRegistered> {
        Target::parse(url, &self.targets).map_err(NotRegistered::Target)?;
        self.change(endpoint, |_, _| Ok(vec![Change::Url(url)])).await
    }

    /// It wants events of these types and no others. Who wanted which at an instant stays known.
    pub async fn subscribe(&self, endpoint: Id, wanted: &[&str]) -> Result<(), NotRegistered> {
        let Some((mut tx, row, now)) = self.hold(endpoint).await? else {
            return Err(NotRegistered::Unknown);
        };
        let plan = row.change().ok_or(NotRegistered::Unknown)?;
        let has = self.store.event_types(&mut tx, endpoint).await?;
        let ends = has.iter().map(String::as_str).filter(|event_type| !wanted.contains(event_type));
        for event_type in ends {
            let change = Change::Unsubscribe { event_type, now };
            self.store.change(&mut tx, endpoint, change).await?;
        }
        let begins = wanted.iter().filter(|event_type| !has.iter().any(|it| it == *event_type));
        for event_type in begins {
            let change = Change::Subscribe { event_type, now };
            self.store.change(&mut tx, endpoint, change).await?;
        }
        Ok(commit(&self.store, tx, plan, Content::None).await?)
    }

    /// Adds a secret, which signs from now on, beside those that are live (S9).
    pub async fn add_secret(&self, endpoint: Id, text: &SecretString) -> Result<Id, NotRegistered> {
        let Some((mut tx, row, now)) = self.hold(endpoint).await? else {
            return Err(NotRegistered::Unknown);
        };
        let plan = row.change().ok_or(NotRegistered::Unknown)?;
        let sealed = self.sealed(text, now)?;
        self.store.change(&mut tx, endpoint, Change::Secret(&sealed)).await?;
        commit(&self.store, tx, plan, Content::None).await?;
        Ok(sealed.id)
    }

    /// Retires a secret: it signs for [`OVERLAP_MS`] more, so that receivers can change over.
    pub async fn retire_secret(&self, endpoint: Id, secret: Id) -> Result<(), NotRegistered> {
        let retire = |window: Window, now| window.retire(now, OVERLAP_MS);
        self.change_window(endpoint, secret, retire).await
    }

    /// Revokes a secret: it signs no more, from the next request on.
    pub async fn revoke_secret(&self, endpoint: Id, secret: Id) -> Result<(), NotRegistered> {
        self.change_window(endpoint, secret, |window, _| window.revoke()).await
    }

    /// The secrets of an endpoint, by their ids, and when each counts.
    pub async fn secrets(&self, endpoint: Id) -> Result<Vec<(Id, Window)>, Error> {
        let mut tx = self.store.begin().await?;
        let addresses = self.store.addresses(&mut tx, &[endpoint].into()).await?;
        self.store.rollback(tx).await?;
        let secrets = addresses.into_iter().flat_map(|address| address.secrets);
        Ok(secrets.map(|secret| (secret.id, secret.window)).collect())
    }

    async fn change_window(
        &self,
        endpoint: Id,
        secret: Id,
        change: impl FnOnce(Window, Millis) -> Window + Send,
    ) -> Result<(), NotRegistered> {
        self.change(endpoint, move |address, now| {
            let found = address.secrets.iter().find(|sealed| sealed.id == secret);
            let window = found.map(|sealed| change(sealed.window, now));
            let window = window.ok_or(NotRegistered::Unknown)?;
            Ok(vec![Change::Window { secret, window }])
        })
        .await
    }

    /// Changes what is kept of an endpoint, decided on what is kept of it.
    async fn change<'a>(
        &self,
        endpoint: Id,
        decide: impl FnOnce(&Address, Millis) -> Result<Vec<Change<'a>>, NotRegistered> + Send,
    ) -> Result<(), NotRegistered> {
        let Some((mut tx, row, now)) = self.hold(endpoint).await? else {
            return Err(NotRegistered::Unknown);
        };
        let plan = row.change().ok_or(NotRegistered::Unknown)?;
        let addresses = self.store.addresses(&mut tx, &[endpoint].into()).await?;
        let address = addresses.first().ok_or(NotRegistered::Unknown)?;
        for change in decide(address, now)? {
            self.store.change(&mut tx, endpoint, change).await?;
        }
        Ok(commit(&self.store, tx, plan, Content::None).await?)
    }

    /// An endpoint under its lock, and the time.
    async fn hold(&self, endpoint: Id) -> Result<Option<(S::Tx, Endpoint, Millis)>, Error> {
        let mut tx = self.store.begin().await?;
        let keys = Keys { endpoints: vec![endpoint], ..Keys::default() };
        let rows = self.store.load(&mut tx, &keys).await?;
        let now = self.store.now(&mut tx).await?;
        Ok(rows.endpoints.first().map(|row| (tx, *row, now)))
    }

    /// A secret that begins to count at `from`, sealed for its row.
    fn sealed(&self, text: &SecretString, from: Millis) -> Result<Sealed, NotRegistered> {
        let window = Window { from, ..Window::always() };
        Secret::new(&self.scheme, text.expose_secret(), window).map_err(NotRegistered::Secret)?;
        let id = self.host.id();
        Ok(Sealed { id, bytes: self.vault.seal(id, text), window })
    }
}

/// How long a retired secret signs beside the new one.
pub const OVERLAP_MS: u64 = DAY;
