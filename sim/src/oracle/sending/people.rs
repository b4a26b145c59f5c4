//! What people and profiles do to deliveries and endpoints: S11, S6 for an endpoint that is disabled.

use hookproof_core::{
    Millis,
    profile::{OnExhausted, OnGone},
};

use super::{
    super::{Breach, Danger, Terms, row},
    Sending,
    clock::SHUT,
    lag_ms, patience_ms,
    publishing::endpoint_bit,
    rows::{Delivery, Endpoint, Life, Phase, Row},
};
use crate::{
    history::{DeliveryNo, EndpointLife, EndpointNo, Line, Node, Resent},
    promise::Promise,
};

impl Sending {
    /// The window is judged where lateness counts: elsewhere nobody can tell when a person asked.
    pub(super) fn resent(
        &mut self,
        terms: &Terms,
        at: Millis,
        no: DeliveryNo,
        (answer, audited): (Resent, bool),
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        danger.count(Promise::S11);
        let delivery = *self.delivery(no);
        hold!(delivery.row.exists(), S11, "delivery {} was resent, and there is none", no.0);
        let taken = !matches!(answer, Resent::Refused);
        hold!(!taken || audited, S11, "the resend of delivery {} left no audit line", no.0);
        let life = self.endpoints.get(delivery.endpoint as usize).map(|e| (e.life, e.adrift));
        hold!(
            !taken || matches!(life, Some((Life::Active, _) | (_, true))),
            S11,
            "delivery {} is to be sent again to an endpoint that takes nothing",
            no.0
        );
        match answer {
            Resent::Opened { cycle } => {
                let astray = at <= self.astray_until;
                may_open(terms, &delivery, no, (at, astray), cycle)?;
                self.open_cycle(no, at, cycle);
            }
            Resent::PulledForward => {
                hold!(
                    delivery.row.is_open() || delivery.adrift,
                    S11,
                    "delivery {} was pulled forward, and no cycle of it is open",
                    no.0
                );
                hold!(
                    delivery.rung < terms.profile.ladder.attempts() || delivery.adrift,
                    S11,
                    "delivery {} was pulled forward, and its cycle has no attempt left",
                    no.0
                );
                self.pull_forward(terms, no, at);
            }
            Resent::Refused => {
                let shut = self.is_shut(&delivery);
                let last = delivery.rung == terms.profile.ladder.attempts();
                let over = delivery.row == Row::Cancelled || (delivery.row.is_open() && last);
                let late = !terms.timely || at + lag_ms(terms) > delivery.window;
                hold!(
                    shut || over || late || delivery.adrift,
                    S11,
                    "the resend of delivery {} was refused without a reason",
                    no.0
                );
            }
        }
        Ok(())
    }

    fn open_cycle(&mut self, no: DeliveryNo, at: Millis, cycle: u16) {
        let stalls = self.stalls;
        self.retire(no, at);
        let delivery = self.turn(no, Row::Open);
        (delivery.cycle, delivery.rung) = (cycle, 0);
        (delivery.requests, delivery.lost) = (0, 0);
        delivery.wake = at;
        (delivery.pulled, delivery.jumped) = (false, false);
        delivery.stalls = stalls;
        self.due_in(no, at, 0);
    }

    /// Of a claimed row it is the attempt after this one that is due at once, and whoever takes over
    /// waits for the end of the lease alone.
    fn pull_forward(&mut self, terms: &Terms, no: DeliveryNo, at: Millis) {
        let delivery = self.delivery(no);
        match delivery.row {
            Row::Claimed => {
                delivery.claim.hurried = true;
                delivery.wake = delivery.wake.min(delivery.claim.lease);
                if terms.timely {
                    self.hurry(no, at, terms.profile.lease_ms());
                }
                return;
            }
            Row::Open | Row::Acknowledged | Row::Failed | Row::Cancelled | Row::Unborn => {}
        }
        delivery.wake = delivery.wake.min(at);
        self.hurry(no, at, 0);
    }

    /// It is due after so long at the latest.
    fn hurry(&mut self, no: DeliveryNo, at: Millis, wait_ms: u64) {
        let former = self.delivery(no).due;
        self.due_in(no, at, wait_ms);
        let delivery = self.delivery(no);
        if former.at <= delivery.due.at {
            delivery.due = former;
        } else if !delivery.pulled {
            (delivery.pulled, delivery.former) = (true, former);
        }
    }

    /// Whether an endpoint takes nothing, or may take nothing.
    pub(super) fn is_shut(&self, delivery: &Delivery) -> bool {
        let endpoint = self.endpoints.get(delivery.endpoint as usize);
        endpoint.is_none_or(|endpoint| endpoint.life != Life::Active || endpoint.adrift)
    }

    pub(super) fn endpoint(
        &mut self,
        terms: &Terms,
        line: &Line,
        no: EndpointNo,
        turn: EndpointLife,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        let clock = self.clock;
        let endpoint = row(&mut self.endpoints, no.index());
        if endpoint.life == Life::Unborn {
            endpoint.clock = clock;
        } else {
            endpoint.turned = true;
            danger.count(Promise::S12);
        }
        let to = match turn {
            EndpointLife::Registered | EndpointLife::Resumed => Life::Active,
            EndpointLife::Changed => endpoint.life,
            EndpointLife::Paused => Life::Paused,
            EndpointLife::Disabled => Life::Disabled,
            EndpointLife::Unsubscribed => Life::Unsubscribed,
            EndpointLife::Deleted => Life::Deleted,
        };
        let revived = endpoint.life == Life::Deleted && to != Life::Deleted && !endpoint.adrift;
        hold!(!revived, S12, "endpoint {} was deleted, and came back", no.0);
        if to == Life::Disabled && matches!(line.by, Node::Relay(_) | Node::Database(_)) {
            hold!(
                !endpoint.life.has_left() || endpoint.adrift,
                S12,
                "endpoint {} has left, and the sender disabled it",
                no.0
            );
            let reason = core::mem::take(&mut endpoint.may_disable);
            may_disable(terms, reason || self.was_lost(terms, line.at, no), no)?;
        }
        let endpoint = &mut self.endpoints[no.index()];
        if turn == EndpointLife::Changed {
            // Whether it takes deliveries stays as it was, known or not.
            endpoint.url += 1;
            return Ok(());
        }
        endpoint.life = to;
        endpoint.adrift = false;
        match to {
            Life::Active => endpoint.clock.start(SHUT, line.at, patience_ms(terms)),
            Life::Unborn | Life::Paused | Life::Disabled | Life::Unsubscribed | Life::Deleted => {
                endpoint.clock.stop(SHUT, line.at);
            }
        }
        endpoint.left = (line.at, self.set_back_ms);
        self.subscribe(no, to);
        Ok(())
    }

    /// Whether a cycle there is over, or its last claim can be found lost, though no line says so yet.
    fn was_lost(&self, terms: &Terms, at: Millis, no: EndpointNo) -> bool {
        let last = terms.profile.ladder.attempts();
        let held = |d: &Delivery| d.row == Row::Claimed && d.rung == last;
        let taken = |d: &Delivery| d.adrift || (held(d) && d.wake <= at);
        // One that was disabled for another delivery and enabled since may be for this one.
        let ended = |d: &Delivery| match d.claim.phase {
            Phase::Gone => d.row == Row::Claimed,
            Phase::Refused | Phase::Unknown => held(d),
            Phase::Over | Phase::Idle | Phase::InFlight | Phase::Acknowledged => false,
        };
        let reason = |d: &Delivery| d.endpoint == no.0 && (taken(d) || ended(d));
        self.deliveries.iter().any(reason)
    }

    /// Which events are owed to it (S12). One that is paused or disabled is subscribed: what is due to
    /// it waits. One that has left need not get what it was owed and has not been given yet, and, since
    /// a transaction may have begun before and committed after, it may get what commits soon. One that
    /// was never registered gets nothing.
    fn subscribe(&mut self, no: EndpointNo, life: Life) {
        match life {
            Life::Active | Life::Paused | Life::Disabled => {
                let bit = endpoint_bit(no);
                let returns = self.may & bit != 0;
                self.owed |= bit;
                self.may |= bit;
                // Who is back at the fan-out counts as one who never left.
                for event in self.events.iter_mut().filter(|e| returns && e.committed && !e.fanned)
                {
                    event.may |= bit;
                }
            }
            Life::Unborn | Life::Unsubscribed | Life::Deleted => self.loosen(no),
        }
    }

    /// Whether it is subscribed is not known: nothing is owed to it, and it may get anything.
    pub(super) fn loosen(&mut self, no: EndpointNo) {
        let bit = endpoint_bit(no);
        self.owed &= !bit;
        self.may |= bit;
        for event in self.events.iter_mut().filter(|event| event.owed & bit != 0) {
            event.owed &= !bit;
            event.may |= bit;
        }
    }

    /// The endpoints that had left before the transaction of an event that commits now can have begun,
    /// where that can be told: by the sender's clock, if it was not set back since, nor before the epoch.
    pub(super) fn gone(&self, terms: &Terms, at: Millis) -> u64 {
        if !terms.timely {
            return 0;
        }
        let gone = |endpoint: &Endpoint| {
            let (since, set_back_ms) = endpoint.left;
            let long_ago = at.since(since) > lag_ms(terms) && since.0 > self.set_back_ms;
            endpoint.life.has_left()
                && !endpoint.adrift
                && long_ago
                && set_back_ms == self.set_back_ms
        };
        let endpoints = (0..).zip(&self.endpoints).filter(|(_, endpoint)| gone(endpoint));
        endpoints.fold(0, |bits, (no, _)| bits | endpoint_bit(EndpointNo(no)))
    }
}

fn may_open(
    terms: &Terms,
    delivery: &Delivery,
    no: DeliveryNo,
    (at, astray): (Millis, bool),
    cycle: u16,
) -> Result<(), Breach> {
    let ended = match delivery.row {
        Row::Acknowledged | Row::Failed => true,
        Row::Unborn | Row::Open | Row::Claimed | Row::Cancelled => false,
    };
    hold!(
        ended || delivery.adrift,
        S11,
        "a resend opened cycle {cycle} of delivery {} beside an open one or a cancelled one",
        no.0
    );
    hold!(
        cycle == delivery.cycle + 1 || (delivery.adrift && cycle <= delivery.cycle),
        S11,
        "a resend opened cycle {cycle} of delivery {} after cycle {}",
        no.0,
        delivery.cycle
    );
    hold!(
        at <= delivery.window + lag_ms(terms) || !terms.timely || astray || delivery.adrift,
        S11,
        "delivery {} was resent {} ms after its window",
        no.0,
        at.since(delivery.window)
    );
    Ok(())
}

impl Sending {
    /// Where the profile says so, a delivery that failed takes its endpoint off in that commit (S6).
    pub(super) fn is_off(&self, no: DeliveryNo, delivery: &Delivery) -> Result<(), Breach> {
        let endpoint = self.endpoints.get(delivery.endpoint as usize);
        let on = |endpoint: &&Endpoint| {
            matches!(endpoint.life, Life::Active | Life::Paused) && !endpoint.adrift
        };
        hold!(
            !endpoint.is_some_and(|endpoint| on(&endpoint)) || delivery.adrift,
            S6,
            "delivery {} failed, and its endpoint should have been disabled with it",
            no.0
        );
        Ok(())
    }
}

fn may_disable(terms: &Terms, reason: bool, no: EndpointNo) -> Result<(), Breach> {
    let profile = &terms.profile;
    let may = profile.on_gone == OnGone::Disable || profile.on_exhausted == OnExhausted::Disable;
    hold!(may && reason, S6, "the sender disabled endpoint {} because a delivery failed", no.0);
    Ok(())
}
