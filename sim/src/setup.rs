//! What a run is made of, before the first step: everything that a scenario can say.

use hookproof_core::{
    Id, Millis,
    endpoint::Life,
    model::{EventType, Operation, Proposal},
};
use serde::{Deserialize, Serialize};

use crate::{
    history::{Family, Side},
    oracle::Terms,
    world::seal::Target,
};

/// A run, before its first step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The seed of its dice.
    pub seed: u64,
    /// The declared numbers and entity types.
    pub terms: Terms,
    /// The business facts, in the order of their numbers.
    pub events: Vec<Planned>,
    /// How many callbacks are registered at the start, all for the same receiver.
    pub endpoints: u32,
    /// How many of each process there are.
    pub relays: u8,
    /// Ingresses of the receiver.
    pub ingresses: u8,
    /// Workers of the receiver.
    pub workers: u8,
    /// What people and the world do, in the order of time.
    pub deeds: Vec<(Millis, Deed)>,
    /// How likely each fault is where it can happen, in 65,536ths.
    pub odds: Odds,
    /// When faults stop. Deeds may come later only if they are no faults.
    pub quiet: Millis,
    /// How long things take at most.
    pub lags: Lags,
}

/// A business fact that will be told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// When its transaction begins.
    pub at: Millis,
    /// How long that takes to commit.
    pub takes_ms: u64,
    /// What it proposes to the receiver.
    pub entity: u32,
    /// Its type.
    pub kind: EventType,
    /// Which occurrence.
    pub occurrence: u64,
    /// Its version.
    pub version: u64,
    /// Whether the receiver can read it.
    pub form: Form,
    /// How many runs of its handler fail; [`POISONED`]: all, until it is repaired.
    pub poison: u8,
    /// Whether its transaction is rolled back in the end.
    pub rolls_back: bool,
    /// How often the publisher calls with its key.
    pub calls: u8,
}

/// [`Planned::poison`] of an event whose handler fails until a person repairs it.
pub const POISONED: u8 = u8::MAX;

/// Whether a receiver can read an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It can.
    Plain,
    /// It does not know the type.
    UnknownType,
    /// The bytes are not what it expects.
    Unreadable,
}

/// What a person or the world does at an appointed time.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "each deed is a sentence")]
pub enum Deed {
    Resend {
        delivery: u32,
    },
    Cancel {
        delivery: u32,
    },
    ResendAll,
    Replay {
        receipt: u32,
        allowed: bool,
    },
    ReplayAll,
    Repair,
    Book {
        #[serde(with = "crate::scenario::operation")]
        operation: Operation,
    },
    Endpoint {
        endpoint: u32,
        #[serde(with = "crate::scenario::LifeOf")]
        life: Life,
    },
    ChangeEndpoint {
        endpoint: u32,
    },
    RegisterAgain {
        endpoint: u32,
    },
    Crash {
        process: u8,
    },
    Upgrade {
        process: u8,
    },
    PowerLoss {
        side: Side,
    },
    Database {
        side: Side,
        up: bool,
    },
    Writable {
        side: Side,
        writable: bool,
    },
    Pool {
        side: Side,
        free: bool,
    },
    Cut {
        requests: bool,
        responses: bool,
    },
    Heal,
    EndpointDown {
        endpoint: u32,
        down: bool,
    },
    Clock {
        side: Side,
        by_ms: i64,
    },
    Skew {
        side: Side,
        by_ms: i64,
    },
    Backup {
        side: Side,
    },
    Restore {
        side: Side,
    },
    Purge,
    Rotate {
        endpoint: u32,
    },
    Revoke {
        endpoint: u32,
    },
    Target {
        endpoint: u32,
        target: Target,
    },
}

/// The odds of each family of faults, in 65,536ths of the places where it can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odds([u32; Family::ALL.len()]);

impl Odds {
    /// No fault at all.
    pub const NONE: Self = Self([0; Family::ALL.len()]);

    /// The odds of a family.
    pub fn of(&self, family: Family) -> u32 {
        self.0[family as usize]
    }

    /// Sets the odds of a family.
    pub fn set(&mut self, family: Family, odds: u32) {
        self.0[family as usize] = odds;
    }
}

/// How long things take at most, in milliseconds; all zero where time is not the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lags {
    /// From loading rows to the commit of what was decided on them.
    pub disk_ms: u64,
    /// From one end of the network to the other.
    pub net_ms: u64,
    /// A handler.
    pub handler_ms: u64,
}

impl Lags {
    /// Everything at once: the explorer takes the steps in any order.
    pub const NONE: Self = Self { disk_ms: 0, net_ms: 0, handler_ms: 0 };
}

impl Setup {
    /// The number of deliveries that there can be.
    pub fn deliveries(&self) -> u32 {
        self.events.len() as u32 * self.endpoints
    }

    /// The delivery of an event for an endpoint.
    pub fn delivery(&self, event: u32, endpoint: u32) -> u32 {
        event * self.endpoints + endpoint
    }

    /// The event that a delivery carries.
    pub fn event_of(&self, delivery: u32) -> u32 {
        delivery / self.endpoints.max(1)
    }

    /// What an event proposes.
    pub fn proposal(&self, event: u32) -> Proposal {
        let planned = &self.events[event as usize];
        Proposal {
            entity: Id(u128::from(planned.entity)),
            event: planned.kind,
            occurrence: planned.occurrence,
            version: planned.version,
        }
    }

    /// How many processes there are: relays, ingresses, workers, and the relay of effects.
    pub fn processes(&self) -> u8 {
        self.relays + self.ingresses + self.workers + 1
    }
}
