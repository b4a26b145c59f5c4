//! Registered callbacks: whether they take deliveries, how many at once, and how fast.

use alloc::vec;

use crate::{
    Id, Millis,
    plan::{Plan, Put, Write},
    profile::Profile,
};

/// A callback's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The row's key.
    pub id: Id,
    /// The row's revision.
    pub rev: u32,
    /// Whether it takes deliveries.
    pub life: Life,
    /// When it stopped being subscribed.
    pub left: Option<Millis>,
    /// The rate as one instant: the theoretical arrival time of the next attempt (GCRA).
    pub next: Millis,
}

/// Whether an endpoint takes deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Life {
    /// It does.
    Active,
    /// Not for a while; what is due waits.
    Paused,
    /// Not until a person enables it; what is due waits.
    Disabled,
    /// It gets no new ones, and open ones are cancelled.
    Unsubscribed,
    /// It is gone, and open ones are cancelled.
    Deleted,
}

/// An endpoint as a claim finds it, under its lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    /// The endpoint's row.
    pub endpoint: Endpoint,
    /// How many of its deliveries are in flight: [`crate::outbox::Delivery::in_flight`].
    pub in_flight: u16,
}

/// What a lane says to one more attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    /// It may start, and the endpoint's row becomes this.
    Open(Endpoint),
    /// Not now: paused, no free slot, or too soon.
    Shut,
    /// Never again.
    Gone,
}

/// Registers an endpoint. It gets what is fanned out from then on.
pub fn register(id: Id) -> Plan<()> {
    Plan::new(vec![Write::Endpoint(Put { was: None, row: Endpoint::registered(id) })], ())
}

impl Endpoint {
    /// A newly registered endpoint.
    pub const fn registered(id: Id) -> Self {
        Self { id, rev: 0, life: Life::Active, left: None, next: Millis(0) }
    }

    /// Whether an event created at `created` gets a delivery for it. Inclusive on purpose: an event
    /// of the very millisecond in which the endpoint left may have committed before it did.
    pub fn subscribed_at(&self, created: Millis) -> bool {
        self.left.is_none_or(|left| created <= left)
    }

    /// Changes whether it takes deliveries. Nothing comes back from deletion.
    pub fn turn(&self, life: Life, now: Millis) -> Option<Plan<()>> {
        if self.life == Life::Deleted || self.life == life {
            return None;
        }
        let left = match life {
            Life::Active | Life::Paused | Life::Disabled => None,
            Life::Unsubscribed | Life::Deleted => self.left.or(Some(now)),
        };
        Some(Plan::new(vec![self.put(Self { life, left, ..self.next_rev() })], ()))
    }

    /// Records a new URL or secret: claims decided on the old one conflict and load again.
    pub fn change(&self) -> Option<Plan<()>> {
        (self.life != Life::Deleted).then(|| Plan::new(vec![self.put(self.next_rev())], ()))
    }

    /// Takes no more deliveries until a person enables it. Where it takes none anyway it is held, so
    /// that nobody enables it in between.
    pub(crate) fn disable(&self) -> Write {
        match self.life {
            Life::Active | Life::Paused => {
                self.put(Self { life: Life::Disabled, ..self.next_rev() })
            }
            Life::Disabled | Life::Unsubscribed | Life::Deleted => self.hold(),
        }
    }

    pub(crate) fn hold(&self) -> Write {
        Write::HoldEndpoint { id: self.id, rev: self.rev }
    }

    pub(crate) fn put(&self, row: Self) -> Write {
        Write::Endpoint(Put { was: Some(self.rev), row })
    }

    fn next_rev(self) -> Self {
        Self { rev: self.rev.wrapping_add(1), ..self }
    }
}

impl Lane {
    /// Whether one more attempt may start now (S14).
    pub fn admit(&self, now: Millis, profile: &Profile) -> Admission {
        match self.endpoint.life {
            Life::Unsubscribed | Life::Deleted => Admission::Gone,
            Life::Paused | Life::Disabled => Admission::Shut,
            Life::Active if self.in_flight >= profile.slots => Admission::Shut,
            Life::Active => self.pace(now, profile),
        }
    }

    fn pace(&self, now: Millis, profile: &Profile) -> Admission {
        let ahead = profile.interval_ms.saturating_mul(u64::from(profile.burst.saturating_sub(1)));
        let latest = now + ahead;
        // No admission leaves it further ahead than this, so a clock was set back since.
        let astray = self.endpoint.next > latest + profile.interval_ms;
        let next = if astray { now } else { self.endpoint.next.max(now) };
        if next > latest {
            return Admission::Shut;
        }
        let next = next + profile.interval_ms;
        Admission::Open(Endpoint { next, ..self.endpoint.next_rev() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(in_flight: u16) -> Lane {
        Lane { endpoint: Endpoint::registered(Id(1)), in_flight }
    }

    fn paced(interval_ms: u64, burst: u16) -> Profile {
        Profile { interval_ms, burst, slots: 2, ..Profile::hookproof() }
    }

    #[test]
    fn a_full_lane_admits_nothing() {
        let profile = paced(0, 1);
        assert!(matches!(lane(1).admit(Millis(9), &profile), Admission::Open(_)));
        assert_eq!(lane(2).admit(Millis(9), &profile), Admission::Shut);
    }

    #[test]
    fn a_rate_admits_its_burst_and_then_one_an_interval() {
        let profile = paced(100, 3);
        let mut lane = lane(0);
        let mut admitted = vec![];
        for now in 0..=300 {
            if let Admission::Open(endpoint) = lane.admit(Millis(1_000 + now), &profile) {
                lane.endpoint = endpoint;
                admitted.push(now);
            }
        }
        assert_eq!(admitted, [0, 1, 2, 100, 200, 300]);
    }

    #[test]
    fn an_event_of_the_millisecond_in_which_an_endpoint_leaves_still_reaches_it() {
        let gone = Endpoint { left: Some(Millis(5)), ..Endpoint::registered(Id(1)) };
        assert!(gone.subscribed_at(Millis(5)));
        assert!(!gone.subscribed_at(Millis(6)));
    }

    #[test]
    fn an_endpoint_is_registered_once() {
        let plan = register(Id(1));
        let put = Put { was: None, row: Endpoint::registered(Id(1)) };
        assert_eq!(plan.writes(), [Write::Endpoint(put)]);
    }

    #[test]
    fn nothing_comes_back_from_deletion() {
        let deleted = Endpoint { life: Life::Deleted, ..Endpoint::registered(Id(1)) };
        assert_eq!(deleted.turn(Life::Active, Millis(1)), None);
        assert_eq!(deleted.change(), None);
        let lane = Lane { endpoint: deleted, in_flight: 0 };
        assert_eq!(lane.admit(Millis(1), &Profile::hookproof()), Admission::Gone);
    }

    #[test]
    fn whoever_subscribes_again_is_subscribed() {
        let left = Endpoint {
            life: Life::Unsubscribed,
            left: Some(Millis(5)),
            ..Endpoint::registered(Id(1))
        };
        let plan = left.turn(Life::Active, Millis(9)).expect("a change");
        let Write::Endpoint(put) = plan.writes()[0] else { panic!("{plan:?}") };
        assert!(put.row.subscribed_at(Millis(10)));
        assert_eq!((put.was, put.row.rev), (Some(0), 1));
    }
}
