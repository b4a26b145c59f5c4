//! What is published and received in the suite, and how lines are written there.

use hookproof::{Letter, Message};
use hookproof_core::{
    Id, Reason,
    inbox::Reading,
    model::{EventType, Proposal},
    payload::Payload,
    plan::{About, Audit, Write},
};
use hookproof_sim::models;
use uuid::Uuid;

use crate::databases::ENTITIES;

pub(crate) fn message(event: u128, other_body: bool) -> Message {
    Message {
        id: Id(event),
        account: "shop".to_owned(),
        aggregate_type: "invoice".to_owned(),
        aggregate_id: format!("inv_{event}"),
        event_type: if event.is_multiple_of(2) { "invoice.paid" } else { "invoice.seen" }
            .to_owned(),
        payload: body(other_body),
    }
}

pub(crate) fn letter(delivery: u128, other_body: bool) -> Letter {
    Letter {
        source: "partner".to_owned(),
        account: String::new(),
        delivery: format!("evt_{delivery}"),
        event_type: "order.moved".to_owned(),
        resource: format!("order_{}", entity_of(delivery).0),
        verified_by: String::new(),
        payload: body(other_body),
    }
}

fn body(other: bool) -> Payload {
    let exact = b"{\"path\": \"C:\\\\dir\", \"nul\": \"\\u0000\",  \"a\":1,\"a\":2}\r\n".to_vec();
    Payload::of(if other { [exact, vec![0, 0xff]].concat() } else { exact })
}

pub(crate) fn entity_of(delivery: u128) -> Id {
    Id(delivery % ENTITIES)
}

pub(crate) fn reading(delivery: u128) -> Reading {
    const EVENTS_OF_ENTITY: [EventType; 3] = [models::CONFIRMING, models::PAID, models::SHIPPED];
    match delivery {
        6 => Reading::UnknownType,
        7 => Reading::Unreadable,
        _ => Reading::Proposal(Proposal {
            entity: entity_of(delivery),
            event: EVENTS_OF_ENTITY[(delivery / ENTITIES) as usize],
            occurrence: 0,
            version: u64::MAX,
        }),
    }
}

/// What the databases keep of a write that is a line.
pub(crate) fn line(write: &Write) -> Option<String> {
    let uuid = |id: Id| Uuid::from_u128(id.0);
    Some(match write {
        Write::Alert { about, reason } => {
            let (kind, id) = match about {
                About::Receipt(id) => ("receipt", *id),
                About::Delivery(id) => ("delivery", *id),
            };
            format!("alert {kind} {} {}", uuid(id), words(*reason))
        }
        Write::Audit(Audit::Resent { delivery, by }) => {
            format!("audit resent {} by {}", uuid(*delivery), uuid(*by))
        }
        Write::Audit(Audit::Replayed { receipt, by }) => {
            format!("audit replayed {} by {}", uuid(*receipt), uuid(*by))
        }
        Write::Audit(Audit::Booked { operation, by }) => format!(
            "audit booked {} by {} {} {}",
            uuid(operation.entity),
            uuid(*by),
            operation.transition.0,
            operation.occurrence
        ),
        Write::Audit(Audit::OtherBytes { receipt, .. }) => {
            format!("audit other bytes {}", uuid(*receipt))
        }
        _ => return None,
    })
}

/// A reason in the words of its name: `ClaimLost` is a claim lost.
fn words(reason: Reason) -> String {
    let mut words = String::new();
    for letter in format!("{reason:?}").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}
