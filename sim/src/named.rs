//! Histories with a name: the stories that people tell of webhooks, each with what must come of it.

use core::fmt;

use hookproof_core::{
    Millis,
    ladder::Ladder,
    model::EventType,
    profile::{InboxPolicy, Profile},
    time::{DAY, HOUR, MINUTE, SECOND},
};

use crate::{
    history::{Fact, HandlerOutcome, Line, Reason, Verdict},
    models::{self, COMPLETED, ModelNo, PAID, PAY, RENEWED, SHIPPED},
    oracle::{Breach, Oracle, Scheme, Terms},
    rogue::Rogue,
    setup::{Deed, Form, Lags, Odds, POISONED, Planned, Setup},
    swarm::operation,
    walk::walk,
};

/// A story.
#[derive(Clone, Debug)]
pub struct Named {
    /// What it is called.
    pub name: &'static str,
    /// What must come of it: how often each of these facts stands in its history.
    pub expected: Vec<(Seen, usize)>,
    /// The run.
    pub setup: Setup,
}

/// What is counted in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A request started.
    Request,
    /// A delivery failed.
    FailedDelivery,
    /// An effect came true through an event.
    Effect,
    /// Work ended so.
    Worked(Verdict),
    /// An event was put aside for its prerequisite.
    Deferral,
    /// A handler failed.
    HandlerFailure,
}

/// What came of a story.
#[derive(Clone, Debug)]
pub struct Told {
    /// The promise that it broke, if one.
    pub breach: Option<Breach>,
    /// What was expected and did not come so: fact, expected, seen.
    pub surprises: Vec<(Seen, usize, usize)>,
    /// Its history.
    pub lines: Vec<Line>,
}

impl Named {
    /// Runs the story, of the code with this wrong line or of the correct code.
    pub fn tell(&self, rogue: Option<Rogue>) -> Told {
        let mut lines = Vec::new();
        let mut oracle = Oracle::new(&self.setup.terms);
        let walked = walk(&self.setup, rogue, &mut oracle, &mut lines);
        let count = |seen: Seen| lines.iter().filter(|line| seen.is(&line.fact)).count();
        let expected = self.expected.iter().map(|&(seen, times)| (seen, times, count(seen)));
        let surprises = expected.filter(|(_, times, count)| times != count).collect();
        Told { breach: walked.breach, surprises, lines }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("requests"),
            Self::FailedDelivery => f.write_str("failed deliveries"),
            Self::Effect => f.write_str("effects"),
            Self::Worked(verdict) => write!(f, "receipts worked: {verdict}"),
            Self::Deferral => f.write_str("deferrals"),
            Self::HandlerFailure => f.write_str("failures of a handler"),
        }
    }
}

impl Seen {
    /// Whether a fact is counted.
    pub fn is(self, fact: &Fact) -> bool {
        match (self, fact) {
            (Self::Request, Fact::Requested { .. })
            | (Self::FailedDelivery, Fact::DeadLettered { reason: Reason::Exhausted, .. })
            | (Self::Effect, Fact::Effect { .. })
            | (Self::Deferral, Fact::Worked { verdict: Verdict::Deferred { .. }, .. })
            | (Self::HandlerFailure, Fact::HandlerRan { outcome: HandlerOutcome::Failed, .. }) => {
                true
            }
            (Self::Worked(expected), Fact::Worked { verdict, .. }) => expected == *verdict,
            _ => false,
        }
    }
}

/// All stories.
pub fn all() -> Vec<Named> {
    vec![
        outage_of_eighteen_hours(),
        two_endpoints_one_payment(),
        booked_by_hand_before_the_resend(),
        shipped_before_paid(),
        deferral_ends_at_its_cap(),
        prerequisite_at_the_cap(),
        poison_in_front(),
        second_renewal(),
        two_events_one_order(),
    ]
}

fn outage_of_eighteen_hours() -> Named {
    let down = Deed::EndpointDown { endpoint: 0, down: true };
    let up = Deed::EndpointDown { endpoint: 0, down: false };
    let mut setup = Story::of(models::ORDER).event(SECOND, PAID, 1).setup;
    setup.quiet = Millis(18 * HOUR);
    setup.deeds = vec![
        (Millis(0), down),
        (Millis(18 * HOUR), up),
        (Millis(19 * HOUR), Deed::Resend { delivery: 0 }),
    ];
    Named {
        name: "a paymos ladder used up under an 18-hour outage, then a resend",
        expected: vec![(Seen::Request, 12), (Seen::FailedDelivery, 1), (Seen::Effect, 1)],
        setup,
    }
}

fn two_endpoints_one_payment() -> Named {
    let mut setup = Story::of(models::ORDER).event(SECOND, PAID, 1).setup;
    setup.endpoints = 2;
    Named {
        name: "two endpoints and one payment",
        expected: vec![
            (Seen::Effect, 1),
            (Seen::Worked(Verdict::Applied), 1),
            (Seen::Worked(Verdict::AlreadyBooked), 1),
        ],
        setup,
    }
}

fn booked_by_hand_before_the_resend() -> Named {
    let mut setup = outage_of_eighteen_hours().setup;
    let by_hand = Deed::Book { operation: operation(0, PAY.0, 0) };
    setup.deeds.insert(2, (Millis(18 * HOUR + MINUTE), by_hand));
    Named {
        name: "a manual booking before a resend to an empty inbox",
        expected: vec![(Seen::Effect, 0), (Seen::Worked(Verdict::AlreadyBooked), 1)],
        setup,
    }
}

fn shipped_before_paid() -> Named {
    let story = Story::of(models::ORDER).event(SECOND, SHIPPED, 1).event(MINUTE, PAID, 2);
    Named {
        name: "shipped before paid",
        expected: vec![(Seen::Deferral, 1), (Seen::Effect, 2), (Seen::Worked(Verdict::Applied), 2)],
        setup: story.setup,
    }
}

fn deferral_ends_at_its_cap() -> Named {
    Named {
        name: "a deferral that ends at its cap",
        expected: vec![
            (Seen::Effect, 0),
            (Seen::Worked(Verdict::SetAside(Reason::DeferralCap)), 1),
        ],
        setup: Story::of(models::ORDER).event(SECOND, SHIPPED, 1).setup,
    }
}

fn prerequisite_at_the_cap() -> Named {
    // With these lags the payment is applied in the very millisecond in which the cap falls.
    let story = Story::of(models::ORDER).event(SECOND, SHIPPED, 1).event(DAY + SECOND, PAID, 2);
    Named {
        name: "a deferral whose prerequisite arrives in the instant of its cap",
        expected: vec![
            (Seen::Worked(Verdict::SetAside(Reason::DeferralCap)), 0),
            (Seen::Worked(Verdict::Applied), 2),
            (Seen::Effect, 2),
        ],
        setup: story.setup,
    }
}

fn poison_in_front() -> Named {
    let mut story = Story::of(models::ORDER).event(SECOND, PAID, 1);
    story.setup.events[0].poison = POISONED;
    for entity in 1..4 {
        story = story.also(models::ORDER).event_of(entity, 2 * SECOND, PAID, 1);
    }
    Named {
        name: "a poison event in front of good ones",
        expected: vec![
            (Seen::Effect, 3),
            (Seen::HandlerFailure, 4),
            (Seen::Worked(Verdict::SetAside(Reason::Failing)), 1),
        ],
        setup: story.setup,
    }
}

fn second_renewal() -> Named {
    let story = Story::of(models::SUBSCRIPTION).event(SECOND, RENEWED, 1).event(HOUR, RENEWED, 2);
    Named {
        name: "a second renewal",
        expected: vec![(Seen::Effect, 2), (Seen::Worked(Verdict::Applied), 2)],
        setup: story.setup,
    }
}

fn two_events_one_order() -> Named {
    let story = Story::of(models::ORDER).event(SECOND, PAID, 1).event(2 * SECOND, COMPLETED, 2);
    Named {
        name: "invoice.paid and checkout.completed for one order",
        expected: vec![
            (Seen::Effect, 1),
            (Seen::Worked(Verdict::Applied), 1),
            (Seen::Worked(Verdict::AlreadyBooked), 1),
        ],
        setup: story.setup,
    }
}

/// A run being made: no faults, one of each process, the contract's defaults.
struct Story {
    setup: Setup,
}

impl Story {
    fn of(model: ModelNo) -> Self {
        let terms = Terms {
            profile: Profile { ladder: Ladder::paymos(), ..Profile::paymos() },
            inbox: InboxPolicy::hookproof(),
            scheme: Scheme::hookproof(),
            models: models::all(),
            model_of: vec![model.0],
            poll_ms: SECOND,
            skew_ms: 0,
            timely: true,
        };
        let setup = Setup {
            seed: 1,
            terms,
            events: Vec::new(),
            endpoints: 1,
            relays: 1,
            ingresses: 1,
            workers: 2,
            deeds: Vec::new(),
            odds: Odds::NONE,
            quiet: Millis(MINUTE),
            lags: Lags { disk_ms: 5, net_ms: 20, handler_ms: 20 },
        };
        Self { setup }
    }

    /// One more entity.
    fn also(mut self, model: ModelNo) -> Self {
        self.setup.terms.model_of.push(model.0);
        self
    }

    fn event(self, at_ms: u64, kind: EventType, version: u64) -> Self {
        self.event_of(0, at_ms, kind, version)
    }

    fn event_of(mut self, entity: u32, at_ms: u64, kind: EventType, version: u64) -> Self {
        self.setup.events.push(Planned {
            at: Millis(at_ms),
            takes_ms: 0,
            entity,
            kind,
            occurrence: version,
            version,
            form: Form::Plain,
            poison: 0,
            rolls_back: false,
            calls: 1,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_story_ends_as_it_is_told() {
        let wrong = all().into_iter().filter_map(|story| {
            let told = story.tell(None);
            let holds = told.breach.is_none() && told.surprises.is_empty();
            (!holds).then_some((story.name, told.breach, told.surprises))
        });
        assert_eq!(wrong.collect::<Vec<_>>(), []);
    }
}
