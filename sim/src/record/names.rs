//! What a user calls rows, and the numbers that the oracle calls them.
//!
//! Ids are texts or numbers. A small number stays what it is; the others follow in their order, numbers
//! first, so that which row comes first does not depend on the order of lines.

use std::collections::BTreeMap;

/// What an id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Event,
    Delivery,
    Endpoint,
    Receipt,
    Entity,
    Id,
    Body,
    Person,
    Operation,
    Occurrence,
    Type,
    Key,
}

/// An id as a file has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    Number(u64),
    Text(String),
}

/// The ids of a history, by what they name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    of: [BTreeMap<Name, u64>; KINDS.len()],
    back: [BTreeMap<u64, Name>; KINDS.len()],
}

impl Kind {
    /// What a field with this name names.
    pub(super) fn of_field(field: &str) -> Option<Self> {
        KINDS.iter().find(|(_, name, _)| *name == field).map(|(kind, ..)| *kind)
    }

    /// How many ids of it one history can have.
    pub(super) fn most(self) -> u64 {
        match self {
            Self::Endpoint => 64,
            Self::Operation | Self::Type => 1 << 15,
            _ => 1 << 31,
        }
    }

    /// The number that a name is already, if it is small.
    fn keeps(self, name: &Name) -> Option<u64> {
        match name {
            Name::Number(number) if *number < self.most().min(SMALL) => Some(*number),
            Name::Number(_) | Name::Text(_) => None,
        }
    }

    /// What more than one of it are called.
    pub(super) fn many(self) -> &'static str {
        KINDS[self as usize].2
    }
}

impl Names {
    pub(super) fn take(&mut self, kind: Kind, name: Name) {
        self.of[kind as usize].insert(name, 0);
    }

    /// Numbers all that was taken. Which of a kind are too many.
    pub(super) fn number(&mut self) -> Result<(), Kind> {
        for (kind, ..) in KINDS {
            let (names, back) = (&mut self.of[kind as usize], &mut self.back[kind as usize]);
            let kept = names.keys().filter_map(|name| kind.keeps(name)).max();
            let mut next = kept.map_or(0, |kept| kept + 1);
            for (name, given) in names {
                *given = kind.keeps(name).unwrap_or(next);
                next = next.max(*given + 1);
                back.insert(*given, name.clone());
            }
            if next > kind.most() {
                return Err(kind);
            }
        }
        Ok(())
    }

    /// The number of a name. An occurrence that is a number stays what it is.
    pub(super) fn number_of(&self, kind: Kind, name: &Name) -> u64 {
        match (kind, name) {
            (Kind::Occurrence, Name::Number(number)) => *number,
            (Kind::Occurrence, Name::Text(_)) => OCCURRENCES | self.of[kind as usize][name],
            _ => self.of[kind as usize].get(name).copied().unwrap_or(0),
        }
    }

    /// How many rows of a kind there are, by the highest number.
    pub(super) fn count(&self, kind: Kind) -> usize {
        self.back[kind as usize].keys().next_back().map_or(0, |last| *last as usize + 1)
    }

    /// The name of a number.
    fn name(&self, kind: Kind, number: u64) -> Option<&Name> {
        let number =
            if kind == Kind::Occurrence { number.checked_sub(OCCURRENCES)? } else { number };
        self.back[kind as usize].get(&number)
    }

    /// A sentence of the oracle, with the user's ids: in it each number of a row stands behind its noun.
    pub fn say(&self, sentence: &str) -> String {
        let mut said = String::with_capacity(sentence.len());
        let mut rest = sentence;
        while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
            let (before, from) = rest.split_at(at);
            let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
            let (digits, after) = from.split_at(end);
            said.push_str(before);
            let noun = said.strip_suffix(' ').and_then(|head| {
                head.rsplit(|c: char| !c.is_ascii_lowercase()).next().and_then(Kind::of_field)
            });
            let name = noun.zip(digits.parse().ok()).and_then(|(kind, no)| self.name(kind, no));
            match name {
                None => said.push_str(digits),
                Some(Name::Number(number)) => said.push_str(&number.to_string()),
                Some(Name::Text(text)) => said.extend(text.chars().flat_map(shown)),
            }
            rest = after;
        }
        said.push_str(rest);
        said
    }
}

/// What a terminal may be shown of a stranger's text.
fn shown(c: char) -> impl Iterator<Item = char> {
    let plain = (!c.is_control()).then_some(c);
    plain.into_iter().chain(plain.is_none().then(|| c.escape_default()).into_iter().flatten())
}

/// The fields that are ids, which are also the nouns of the sentences, and what many are called.
const KINDS: [(Kind, &str, &str); 12] = [
    (Kind::Event, "event", "events"),
    (Kind::Delivery, "delivery", "deliveries"),
    (Kind::Endpoint, "endpoint", "endpoints"),
    (Kind::Receipt, "receipt", "receipts"),
    (Kind::Entity, "entity", "entities"),
    (Kind::Id, "id", "delivery ids"),
    (Kind::Body, "body", "bodies"),
    (Kind::Person, "person", "persons"),
    (Kind::Operation, "operation", "transitions"),
    (Kind::Occurrence, "occurrence", "occurrences"),
    (Kind::Type, "type", "types of events"),
    (Kind::Key, "key", "keys"),
];

/// Smaller numbers stay what they are: rows are kept in tables by number.
const SMALL: u64 = 4_096;
/// Where the numbers of occurrences begin that are texts.
const OCCURRENCES: u64 = 1 << 62;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_the_ids_of_the_user() {
        let mut names = Names::default();
        for text in ["evt_1", "evt_2"] {
            names.take(Kind::Event, Name::Text(text.to_owned()));
        }
        names.take(Kind::Receipt, Name::Number(700));
        names.take(Kind::Receipt, Name::Text("a\u{1b}b".to_owned()));
        names.number().expect("few");
        let said = names.say("event 1 has 2 of receipt 700 (receipt 701), attempt 1 of event 9");
        assert_eq!(
            said,
            "event evt_2 has 2 of receipt 700 (receipt a\\u{1b}b), attempt 1 of event 9"
        );
    }
}
