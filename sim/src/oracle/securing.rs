//! What vouches for a request: S4, S9, S10, S13, R1, R2, R17, R18.
//!
//! `keys` follows the secrets of each endpoint, `sending` judges what a worker signs and dials, and
//! `door` what an ingress makes of what arrives. What is stored between lines is the secrets, which
//! bytes and which endpoint a delivery has, and the requests that were not answered.
//!
//! A history that says nothing of an endpoint's secrets is not judged by them.

mod door;
mod keys;
mod packed;
mod sending;

#[cfg(test)]
mod tests;

use hookproof_core::Millis;

use super::{Breach, Danger, Terms, row};
use crate::{
    history::{Body, Fact, Family, Line, Node, Outcome, Side},
    promise::Promise,
};
use door::Request;
use keys::Keys;

/// What is known of signatures, targets and requests at the door.
#[derive(Debug, Default)]
pub(super) struct Securing {
    /// The bytes of each event.
    bodies: Vec<Option<Body>>,
    deliveries: Vec<Delivery>,
    /// The secrets of each endpoint.
    keys: Vec<Keys>,
    /// The requests that have arrived and were not answered, in the order of their arrival.
    requests: Vec<Request>,
    /// How far the clock of the sender's database is ahead of true time.
    ahead_ms: i64,
}

clone_reusing!(Securing { bodies, deliveries, keys, requests, ahead_ms });

/// What a delivery carries, and where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Delivery {
    known: bool,
    body: Option<Body>,
    endpoint: u32,
}

impl Securing {
    /// Forgets the history and keeps the memory.
    pub(super) fn reset(&mut self) {
        self.bodies.clear();
        self.deliveries.clear();
        self.keys.clear();
        self.requests.clear();
        self.ahead_ms = 0;
    }

    /// Takes in the next line.
    pub(super) fn observe(
        &mut self,
        terms: &Terms,
        line: &Line,
        danger: &mut Danger,
    ) -> Result<(), Breach> {
        match line.fact {
            Fact::Committed { event, body, .. } => {
                *row(&mut self.bodies, event.index()) = Some(body);
            }
            Fact::FannedOut { event, endpoint, delivery, .. } => {
                let body = self.bodies.get(event.index()).copied().flatten();
                *row(&mut self.deliveries, delivery.index()) =
                    Delivery { known: true, body, endpoint: endpoint.0 };
            }
            Fact::Dialled { delivery, address, .. } => return sending::dialled(delivery, address),
            Fact::Requested { .. } => return self.requested(terms, line, danger),
            Fact::Responded { outcome, .. } => endanger_target(outcome, danger),
            Fact::Arrived { .. } => self.arrived(terms, line, danger),
            Fact::Received { .. } => return self.received(line),
            Fact::Differed { body, .. } => self.left_a_trace(line.by, |of| of.body == body),
            Fact::Answered { .. } => return self.answered(terms, line),
            Fact::Greeted { endpoint, nonce, status, echo } => {
                danger.count(Promise::R18);
                return door::greeted(terms, endpoint, (nonce, status), echo);
            }
            Fact::Secret { endpoint, secret, life } => {
                return self.secret(terms, line.at, (endpoint, secret), life);
            }
            Fact::Crashed => self.crashed(line.by),
            Fact::ClockJumped { by_ms } => self.jumped(line.by, by_ms),
            Fact::Fault { family } => self.struck(terms, family, line.by, danger),
            // What happens behind the door, and what both sides only report.
            _ => {}
        }
        Ok(())
    }

    fn jumped(&mut self, by: Node, by_ms: i64) {
        match by {
            Node::Database(Side::Sender) => self.ahead_ms = self.ahead_ms.saturating_add(by_ms),
            Node::Ingress(_) => self.requests.iter_mut().for_each(|request| request.shaken = true),
            _ => {}
        }
    }

    fn struck(&mut self, terms: &Terms, family: Family, by: Node, danger: &mut Danger) {
        match family {
            Family::Truncated => danger.count(Promise::R2),
            Family::UnsignedId => danger.count(Promise::R17),
            Family::Stall => self.stalled(terms, by),
            Family::Hang if matches!(by, Node::Ingress(_)) => {
                danger.count(Promise::R18);
                self.hangs(by);
            }
            _ => {}
        }
    }

    fn keys(&self, endpoint: u32) -> Keys {
        self.keys.get(endpoint as usize).copied().unwrap_or_default()
    }
}

/// A target that was denied, or a redirect: here a sender can go where it must not.
fn endanger_target(outcome: Outcome, danger: &mut Danger) {
    if matches!(outcome, Outcome::Denied | Outcome::Refused { status: 300..=399, .. }) {
        danger.count(Promise::S10);
    }
}

/// The clock of the sender's database.
fn clock(at: Millis, ahead_ms: i64) -> Millis {
    Millis(at.0.saturating_add_signed(ahead_ms))
}
