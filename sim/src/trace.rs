//! A history for people: one line an event, in fixed columns of simulated time, node and what happened.
//!
//! The words are those of the contract, and rows have the numbers that the oracle's sentences use, so
//! that what a breach names can be searched for in the trace.

mod fact;
mod rows;
mod words;

pub use rows::Rows;

use core::fmt::{Display, Formatter, Result};

use hookproof_core::{
    Millis,
    time::{DAY, HOUR, MINUTE, SECOND},
};

use crate::history::Line;

impl Display for Line {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:>TIME$}  {:<NODE$}  {}", Clock(self.at), self.by, self.fact)
    }
}

/// An instant of simulated time as `[d ]hh:mm:ss.mmm`.
#[derive(Clone, Copy, Debug)]
pub struct Clock(pub Millis);

impl Display for Clock {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ms = self.0.0;
        let (days, hours, minutes) = (ms / DAY, ms % DAY / HOUR, ms % HOUR / MINUTE);
        let (seconds, rest) = (ms % MINUTE / SECOND, ms % SECOND);
        let of_day = format!("{hours:02}:{minutes:02}:{seconds:02}.{rest:03}");
        f.pad(&if days == 0 { of_day } else { format!("{days}d {of_day}") })
    }
}

/// A length of time, exactly, in as few units as it has.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub u64);

impl Display for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ms = self.0;
        let parts = [
            (ms / DAY, "d"),
            (ms % DAY / HOUR, "h"),
            (ms % HOUR / MINUTE, "min"),
            (ms % MINUTE / SECOND, "s"),
            (ms % SECOND, "ms"),
        ];
        let said = parts.iter().filter(|(count, _)| *count > 0);
        let said: Vec<String> = said.map(|(count, unit)| format!("{count} {unit}")).collect();
        f.pad(&if said.is_empty() { "0 ms".to_owned() } else { said.join(" ") })
    }
}

/// The columns of time and node.
const TIME: usize = 17;
const NODE: usize = 17;

#[cfg(test)]
mod tests {
    use hookproof_core::model::{EventType, State};

    use super::*;
    use crate::history::{Body, DeliveryId, DeliveryNo, EndpointNo, EntityNo, EventNo, Signed};
    use crate::history::{Fact, Node};

    fn line(at: u64, by: Node, fact: Fact) -> String {
        Line { at: Millis(at), by, fact }.to_string()
    }

    #[test]
    fn a_line_has_its_time_its_node_and_one_sentence() {
        let request = Fact::Requested {
            delivery: DeliveryNo(3),
            endpoint: EndpointNo(0),
            attempt: 2,
            fence: 4,
            id: DeliveryId(3),
            body: Body(1),
            signed: Signed { at: Millis(0), secrets: 1 },
        };
        assert_eq!(
            line(963_250, Node::Relay(1), request),
            "     00:16:03.250  relay 1            request of delivery 3, attempt 2, to endpoint 0 \
             (fence 4, id 3, body 1)"
        );
    }

    #[test]
    fn days_are_said_only_once_they_have_passed() {
        assert_eq!(Clock(Millis(DAY - 1)).to_string(), "23:59:59.999");
        assert_eq!(Clock(Millis(12 * DAY + 1)).to_string(), "12d 00:00:00.001");
    }

    #[test]
    fn a_span_is_exact() {
        assert_eq!(Span(0).to_string(), "0 ms");
        assert_eq!(Span(90_000).to_string(), "1 min 30 s");
        assert_eq!(Span(DAY + 250).to_string(), "1 d 250 ms");
    }

    #[test]
    fn lines_stay_in_their_columns_for_every_node() {
        let committed = Fact::Committed {
            event: EventNo(0),
            entity: EntityNo(1),
            kind: EventType(1),
            occurrence: 1,
            version: 1,
            body: Body(0),
        };
        let moved = Fact::Moved { entity: EntityNo(1), from: State(0), to: State(2), version: 0 };
        for (node, fact) in [(Node::App, committed), (Node::EffectRelay(0), moved)] {
            let text = line(5 * DAY, node, fact);
            assert_eq!(&text[TIME..TIME + 2], "  ", "{text}");
            assert_eq!(&text[TIME + 2 + NODE..TIME + 4 + NODE], "  ", "{text}");
            assert_ne!(&text[TIME + 4 + NODE..TIME + 5 + NODE], " ", "{text}");
        }
    }
}
