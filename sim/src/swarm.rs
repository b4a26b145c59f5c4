//! Drawing a run from a seed: its entities, its events, its people, and which faults are on.
//!
//! What is drawn here is drawn outside the run's own dice, by [`Dice`] of another seed: switching a
//! family off changes nothing else (swarm testing, Groce et al. 2012).

mod cast;

pub use self::cast::Cast;

use hookproof_core::{
    Id, Millis,
    endpoint::Life,
    ladder::Ladder,
    model::{EventType, Operation, Transition},
    profile::{InboxPolicy, OnExhausted, OnGone, Profile, retention_min_ms},
    time::{DAY, HOUR, MINUTE, SECOND},
};

use crate::{
    dice::{Dice, Site},
    history::{Family, Side},
    models::{self, ModelNo},
    oracle::{Scheme, Terms},
    setup::{Deed, Form, Lags, Odds, POISONED, Planned, Setup},
    world::seal::Target,
};

/// Draws the run of a seed.
pub fn draw(seed: u64) -> Setup {
    draw_for(seed, &[])
}

/// Draws the run of a seed for a hunt: the favoured families are always on, and the others less often.
/// Favouring none is [`draw`].
pub fn draw_for(seed: u64, favoured: &[Family]) -> Setup {
    Draw { dice: Dice::new(seed ^ SWARM), asked: 0, favoured, cast: Cast::BuiltIn }.setup(seed)
}

/// Draws the run of a seed that is about the entities of somebody else.
pub fn draw_own(seed: u64, cast: Cast<'_>) -> Setup {
    Draw { dice: Dice::new(seed ^ SWARM), asked: 0, favoured: &[], cast }.setup(seed)
}

/// Numbers drawn one after the other, each at an address of its own.
struct Draw<'a> {
    dice: Dice,
    asked: u32,
    favoured: &'a [Family],
    cast: Cast<'a>,
}

impl Draw<'_> {
    fn below(&mut self, bound: u64) -> u64 {
        self.asked += 1;
        self.dice.below(Site::new(0, self.asked, 0, 0), bound)
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    /// Whether a family of faults is on in this run.
    fn on(&self, family: Family) -> bool {
        let odds = if self.favoured.is_empty() { 2 } else { 1 };
        self.favoured.contains(&family)
            || self.dice.below(Site::new(1, family as u32, 0, 0), 5) < odds
    }

    fn setup(mut self, seed: u64) -> Setup {
        let pace = self.pace();
        let endpoints = match self.cast {
            Cast::BuiltIn if self.on(Family::TwoEndpoints) => 2 + self.below(2) as u32,
            Cast::BuiltIn => 1,
            Cast::Own { endpoints, .. } => endpoints,
        };
        let entities = 1 + self.below(3) as usize;
        let model_of: Vec<u8> =
            (0..entities).map(|_| self.below(self.cast.types()) as u8).collect();
        let events = self.events(&model_of, &pace);
        let span = events.last().map_or(Millis(0), |event| event.at);
        let quiet = span + pace.storm_ms;
        let terms = Terms {
            profile: pace.profile,
            inbox: pace.inbox,
            scheme: self.scheme(pace.slow),
            models: self.cast.models(),
            model_of,
            poll_ms: POLL_MS,
            skew_ms: SKEW_MS,
            timely: true,
        };
        let mut setup = Setup {
            seed,
            terms,
            events,
            endpoints,
            relays: 1 + self.below(3) as u8,
            ingresses: 1 + self.below(2) as u8,
            workers: 1 + self.below(3) as u8,
            deeds: Vec::new(),
            odds: self.odds(),
            quiet,
            lags: Lags {
                disk_ms: 1 + self.below(30),
                net_ms: 1 + self.below(200),
                handler_ms: 1 + self.below(100),
            },
        };
        setup.deeds = self.deeds(&setup);
        setup
    }

    fn pace(&mut self) -> Pace {
        let profile = match self.below(4) {
            0 => Profile::paymos(),
            1 => Profile::standard_webhooks(),
            _ => brisk(),
        };
        let slow = profile.name != "brisk";
        let profile = Profile {
            slots: 1 + self.below(4) as u16,
            interval_ms: if self.one_in(3) {
                [200, 3 * SECOND][self.choice(7, 2) as usize]
            } else {
                0
            },
            burst: 1 + self.below(3) as u16,
            on_gone: [OnGone::Climb, OnGone::Fail, OnGone::Disable][self.below(3) as usize],
            on_exhausted: if self.one_in(3) { OnExhausted::Disable } else { OnExhausted::Keep },
            time_limit_ms: if self.choice(0, 4) == 0 { 3 * SECOND } else { profile.time_limit_ms },
            ..profile
        };
        let inbox = InboxPolicy {
            retention_ms: (!slow).then(|| retention_min_ms(&profile, SKEW_MS)),
            ..if slow { patient_inbox() } else { brisk_inbox() }
        };
        let storm_ms = if slow { HOUR + self.below(20) * HOUR } else { 4 * MINUTE };
        Pace { slow, profile, inbox, storm_ms, gap_ms: if slow { 10 * MINUTE } else { 5 * SECOND } }
    }

    /// How requests are vouched for.
    fn scheme(&self, slow: bool) -> Scheme {
        let lists = self.choice(1, 3) > 0;
        Scheme {
            lists,
            strangers: lists && self.choice(2, 3) == 0,
            covers_header: self.choice(3, 2) == 0,
            overlap_ms: if slow { [DAY, HOUR][self.choice(4, 2) as usize] } else { MINUTE },
            notice_ms: if slow { HOUR } else { MINUTE },
            wants_200: self.choice(5, 3) == 0,
            greets: self.choice(6, 3) == 0,
            ..Scheme::hookproof()
        }
    }

    /// One of so many choices, at an address of its own.
    fn choice(&self, what: u32, bound: u64) -> u64 {
        self.dice.below(Site::new(2, what, 0, 0), bound)
    }

    /// Events of each entity in the order in which they happened, all entities interleaved.
    fn events(&mut self, model_of: &[u8], pace: &Pace) -> Vec<Planned> {
        let mut events = Vec::new();
        let gap_ms = if self.on(Family::OutOfOrder) { CLOSE_MS } else { pace.gap_ms };
        for (entity, &model) in (0..).zip(model_of) {
            let story = self.cast.story(model, |stories| self.below(stories));
            let mut at = Millis(SECOND + self.below(pace.gap_ms));
            for (n, &kind) in (1..).zip(story) {
                at = at + self.below(gap_ms);
                let planned = self.planned(at, entity, kind, n);
                let version = if self.ties(model, entity, n) { n - 1 } else { n };
                events.push(Planned { version, ..planned });
            }
        }
        events.sort_by_key(|event| event.at);
        events
    }

    /// Whether an event has the version of the one before it: two facts of one moment.
    fn ties(&self, model: u8, entity: u32, n: u64) -> bool {
        let by_version = [models::ACCOUNT, models::SNAPSHOT, models::CLOCKED];
        matches!(self.cast, Cast::BuiltIn)
            && by_version.contains(&ModelNo(model))
            && n > 1
            && self.dice.below(Site::new(3, entity, n as u32, 0), 4) == 0
    }

    fn planned(&mut self, at: Millis, entity: u32, kind: EventType, n: u64) -> Planned {
        let form = match self.below(12) {
            0 if self.on(Family::UnknownType) => Form::UnknownType,
            1 if self.on(Family::Unreadable) => Form::Unreadable,
            _ => Form::Plain,
        };
        let poison = match self.below(8) {
            0 if self.on(Family::Poison) => POISONED,
            1 | 2 if self.on(Family::Poison) => 1 + self.below(5) as u8,
            _ => 0,
        };
        Planned {
            at,
            takes_ms: self.below(400),
            entity,
            kind,
            occurrence: n,
            version: n,
            form,
            poison,
            rolls_back: false,
            calls: if self.on(Family::Republish) { 1 + self.below(3) as u8 } else { 1 },
        }
    }

    /// The odds of what hits single steps: rare enough that a run also does its work.
    fn odds(&mut self) -> Odds {
        let mut odds = Odds::NONE;
        for family in Family::ALL {
            if self.on(family) {
                let most = match family {
                    Family::CrashSender | Family::CrashReceiver | Family::Stall => 1_200,
                    Family::OtherBytes | Family::ForeignAck | Family::EarlyAck => 2_500,
                    // The API is asked rarely, so it fails often.
                    Family::StaleApi | Family::FailingApi => 30_000,
                    _ => 6_000,
                };
                odds.set(family, 200 + self.below(most) as u32);
            }
        }
        odds
    }

    fn deeds(&mut self, setup: &Setup) -> Vec<(Millis, Deed)> {
        let mut deeds = Vec::new();
        self.outages(setup, &mut deeds);
        self.machines(setup, &mut deeds);
        self.people(setup, &mut deeds);
        self.trust(setup, &mut deeds);
        if self.on(Family::OperatorResend) && self.one_in(3) {
            let delivery = self.below(u64::from(setup.deliveries())) as u32;
            deeds.push((self.any_time(setup), Deed::Cancel { delivery }));
        }
        for endpoint in 0..setup.endpoints {
            let back = Deed::Endpoint { endpoint, life: Life::Active };
            deeds.push((setup.quiet + SECOND, back));
        }
        deeds.sort_by_key(|(at, _)| *at);
        deeds
    }

    /// An instant before the faults stop.
    fn during(&mut self, setup: &Setup) -> Millis {
        Millis(self.below(setup.quiet.0.max(1)))
    }

    fn outages(&mut self, setup: &Setup, deeds: &mut Vec<(Millis, Deed)>) {
        let pairs: [(Family, Outage); 3] = [
            (Family::DatabaseDown, |side| {
                [Deed::Database { side, up: false }, Deed::Database { side, up: true }]
            }),
            (Family::DatabaseReadOnly, |side| {
                [Deed::Writable { side, writable: false }, Deed::Writable { side, writable: true }]
            }),
            (Family::PoolExhausted, |side| {
                [Deed::Pool { side, free: false }, Deed::Pool { side, free: true }]
            }),
        ];
        for (family, pair) in pairs {
            if self.on(family) {
                let side = if self.one_in(2) { Side::Sender } else { Side::Receiver };
                let from = self.during(setup);
                let [start, end] = pair(side);
                let lasts = 1 + self.below(short(setup).min(5 * MINUTE));
                deeds.extend([(from, start), (from + lasts, end)]);
            }
        }
        if self.on(Family::Partition) {
            self.cut(setup, [true, true], deeds);
        }
        if self.on(Family::PartitionOneWay) {
            let requests = self.one_in(2);
            self.cut(setup, [requests, !requests], deeds);
        }
        if self.on(Family::EndpointDown) {
            let endpoint = self.below(u64::from(setup.endpoints)) as u32;
            let from = self.during(setup);
            let lasts = 1 + self.below(setup.quiet.0.max(2));
            deeds.push((from, Deed::EndpointDown { endpoint, down: true }));
            deeds.push((from + lasts, Deed::EndpointDown { endpoint, down: false }));
        }
    }

    fn cut(&mut self, setup: &Setup, legs: [bool; 2], deeds: &mut Vec<(Millis, Deed)>) {
        let from = self.during(setup);
        let [requests, responses] = legs;
        deeds.push((from, Deed::Cut { requests, responses }));
        let lasts = 1 + self.below(short(setup));
        deeds.push((from + lasts, Deed::Cut { requests: false, responses: false }));
    }

    fn machines(&mut self, setup: &Setup, deeds: &mut Vec<(Millis, Deed)>) {
        for side in [Side::Sender, Side::Receiver] {
            if self.on(Family::PowerLoss) {
                deeds.push((self.during(setup), Deed::PowerLoss { side }));
            }
        }
        if self.on(Family::Restore) && self.one_in(2) {
            let side = if self.one_in(2) { Side::Sender } else { Side::Receiver };
            let taken = self.during(setup);
            let until = setup.quiet.since(taken) + 1;
            deeds.push((taken, Deed::Backup { side }));
            deeds.push((taken + self.below(until), Deed::Restore { side }));
        }
        if self.on(Family::ClockJump) {
            let side = if self.one_in(2) { Side::Sender } else { Side::Receiver };
            let by_ms = self.below(2 * HOUR) as i64 - HOUR as i64;
            deeds.push((self.during(setup), Deed::Clock { side, by_ms }));
        }
        if self.on(Family::ClockSkew) {
            for side in [Side::Sender, Side::Receiver] {
                let by_ms = self.below(2 * SKEW_MS) as i64 - SKEW_MS as i64;
                deeds.push((Millis(0), Deed::Skew { side, by_ms }));
            }
        }
        if self.on(Family::TwoVersions) {
            let process = self.below(u64::from(setup.processes())) as u8;
            deeds.push((self.during(setup), Deed::Upgrade { process }));
        }
    }

    fn people(&mut self, setup: &Setup, deeds: &mut Vec<(Millis, Deed)>) {
        let deliveries = u64::from(setup.deliveries());
        if self.on(Family::OperatorResend) {
            for _ in 0..1 + self.below(4) {
                let delivery = self.below(deliveries) as u32;
                deeds.push((self.any_time(setup), Deed::Resend { delivery }));
            }
        }
        if self.on(Family::BulkResend) {
            deeds.push((self.any_time(setup), Deed::ResendAll));
        }
        if self.on(Family::OperatorReplay) {
            for _ in 0..1 + self.below(4) {
                let receipt = self.below(deliveries) as u32;
                let allowed = !self.one_in(4);
                deeds.push((self.any_time(setup), Deed::Replay { receipt, allowed }));
            }
            deeds.push((setup.quiet + MINUTE, Deed::Repair));
            deeds.push((setup.quiet + 2 * MINUTE, Deed::ReplayAll));
        }
        if self.on(Family::ManualBooking) {
            for _ in 0..1 + self.below(2) {
                let event = self.below(setup.events.len() as u64) as u32;
                if let Some(operation) = operation_of(setup, event) {
                    let at = setup.events[event as usize].at;
                    let at = at + self.below(setup.terms.profile.lease_ms());
                    deeds.push((at, Deed::Book { operation }));
                }
            }
        }
        if self.on(Family::EndpointLife) {
            self.endpoint_life(setup, deeds);
        }
        if self.on(Family::Purge) {
            for _ in 0..3 {
                deeds.push((self.any_time(setup), Deed::Purge));
            }
            let keep = setup.terms.inbox.retention_ms.unwrap_or(0);
            let last = setup.quiet + keep;
            deeds.push((last, Deed::Purge));
            if self.on(Family::OperatorReplay) {
                for receipt in 0..setup.deliveries() {
                    let at = last + self.below(setup.lags.disk_ms);
                    deeds.push((at, Deed::Replay { receipt, allowed: true }));
                }
            }
        }
    }

    /// Secrets that are rotated or revoked, and targets that turn private.
    fn trust(&mut self, setup: &Setup, deeds: &mut Vec<(Millis, Deed)>) {
        let endpoint = self.below(u64::from(setup.endpoints)) as u32;
        if self.on(Family::SecretRotated) {
            for _ in 0..1 + self.below(2) {
                deeds.push((self.during(setup), Deed::Rotate { endpoint }));
            }
        }
        if self.on(Family::SecretRevoked) {
            deeds.push((self.during(setup), Deed::Revoke { endpoint }));
        }
        if self.on(Family::TargetPrivate) {
            let target = if self.one_in(2) { Target::Mixed } else { Target::Private };
            let from = self.during(setup);
            let lasts = 1 + self.below(short(setup));
            deeds.push((from, Deed::Target { endpoint, target }));
            deeds.push((from + lasts, Deed::Target { endpoint, target: Target::Public }));
        }
    }

    /// An instant in the storm or soon after it.
    fn any_time(&mut self, setup: &Setup) -> Millis {
        Millis(self.below(setup.quiet.0 + setup.quiet.0 / 4 + 1))
    }

    fn endpoint_life(&mut self, setup: &Setup, deeds: &mut Vec<(Millis, Deed)>) {
        let endpoint = self.below(u64::from(setup.endpoints)) as u32;
        let at = self.during(setup);
        let lasts = 1 + self.below(short(setup));
        let soon = 1 + self.below(40);
        let back = Deed::Endpoint { endpoint, life: Life::Active };
        match self.below(6) {
            0 => deeds.push((at, Deed::ChangeEndpoint { endpoint })),
            1 => {
                deeds.push((at, Deed::Endpoint { endpoint, life: Life::Paused }));
                deeds.push((at + lasts, back));
            }
            2 => {
                deeds.push((at, Deed::Endpoint { endpoint, life: Life::Disabled }));
                deeds.push((at + lasts, back));
            }
            3 => {
                for event in &setup.events {
                    let at = event.at + event.takes_ms + 20 + self.below(soon);
                    deeds.push((at, Deed::Endpoint { endpoint, life: Life::Unsubscribed }));
                    deeds.push((at + 1 + self.below(soon), back));
                }
            }
            4 => {
                deeds.push((at, Deed::Endpoint { endpoint, life: Life::Unsubscribed }));
                deeds.push((at + lasts, Deed::Endpoint { endpoint, life: Life::Deleted }));
            }
            _ => deeds.push((at, Deed::Endpoint { endpoint, life: Life::Deleted })),
        }
        deeds.push((at + self.below(lasts), Deed::RegisterAgain { endpoint }));
        // Where deliveries disable it, somebody enables it again.
        for _ in 0..self.below(9) {
            deeds.push((self.during(setup), back));
        }
    }
}

/// The start and the end of an outage of one side.
type Outage = fn(Side) -> [Deed; 2];

/// The longest that an outage in between lasts.
fn short(setup: &Setup) -> u64 {
    setup.quiet.0 / 6 + 1
}

struct Pace {
    slow: bool,
    profile: Profile,
    inbox: InboxPolicy,
    /// How long after the last event the faults go on.
    storm_ms: u64,
    gap_ms: u64,
}

/// A sender for whom everything is short: a whole life passes in minutes.
pub fn brisk() -> Profile {
    let waits = vec![5 * SECOND, 30 * SECOND, 2 * MINUTE];
    Profile {
        name: "brisk",
        ladder: Ladder::new(waits).unwrap_or_else(|_| Ladder::inbox_default()),
        retry_after_max_ms: MINUTE,
        resend_window_ms: 10 * MINUTE,
        ..Profile::hookproof()
    }
}

/// The contract's defaults with a longer timer: a day of deferral is a few looks.
fn patient_inbox() -> InboxPolicy {
    InboxPolicy { defer_timer_ms: HOUR, ..InboxPolicy::hookproof() }
}

fn brisk_inbox() -> InboxPolicy {
    InboxPolicy {
        work_limit_ms: 10 * SECOND,
        defer_timer_ms: 30 * SECOND,
        defer_cap_ms: 10 * MINUTE,
        ..InboxPolicy::hookproof()
    }
}

fn operation_of(setup: &Setup, event: u32) -> Option<Operation> {
    let proposal = setup.proposal(event);
    let model = setup.terms.model_of[proposal.entity.0 as usize];
    setup.terms.models[usize::from(model)].operation(&proposal)
}

/// An operation by its parts, for setups made by hand.
pub fn operation(entity: u32, transition: u16, occurrence: u64) -> Operation {
    Operation { entity: Id(u128::from(entity)), transition: Transition(transition), occurrence }
}

/// Parts the swarm's draws from the run's dice.
const SWARM: u64 = 0x5157_a9d3_0000_0000;
/// How close events of one entity follow each other where they are to overtake each other.
const CLOSE_MS: u64 = 300;
/// How often processes look for due rows.
const POLL_MS: u64 = SECOND;
/// How far two clocks may be apart.
const SKEW_MS: u64 = 30 * SECOND;
