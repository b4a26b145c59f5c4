//! The set of visited states: whole keys, so that two states are never taken for one.
//!
//! Keys lie one after the other in an arena; an open-addressing table holds their numbers with a part
//! of their hash. Both are split into shards by the hash, each behind a lock of its own, so that
//! threads seldom meet.

use std::sync::{Mutex, PoisonError};

/// The set, with how each state was first reached.
#[derive(Debug)]
pub(super) struct Table {
    shards: Vec<Mutex<Shard>>,
}

/// A state's number.
pub(super) type Id = u32;

/// How a state was first reached: from which, and by which of its actions.
pub(super) type Parent = (Id, u16);

#[derive(Debug, Default)]
struct Shard {
    /// Each a part of a hash above the number of a key, counted from 1; 0: free.
    slots: Vec<u64>,
    /// Where each key ends in the arena.
    ends: Vec<u64>,
    parents: Vec<Parent>,
    arena: Vec<u8>,
}

impl Table {
    pub(super) fn new() -> Self {
        let shard = || Mutex::new(Shard { slots: vec![0; SLOTS_MIN], ..Shard::default() });
        Self { shards: (0..SHARDS).map(|_| shard()).collect() }
    }

    /// Adds a key. Its number if it is new.
    pub(super) fn insert(&self, key: &[u8], parent: Parent) -> Option<Id> {
        let hash = hash(key);
        let place = hash as usize % SHARDS;
        let mut shard = self.shards[place].lock().unwrap_or_else(PoisonError::into_inner);
        let at = shard.insert(key, hash, parent)?;
        Some(at * SHARDS as Id + place as Id)
    }

    /// How a state was first reached.
    pub(super) fn parent(&self, id: Id) -> Parent {
        let place = id as usize % SHARDS;
        let shard = self.shards[place].lock().unwrap_or_else(PoisonError::into_inner);
        shard.parents[id as usize / SHARDS]
    }

    /// How many bytes the keys take.
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |shard: &Mutex<Shard>| {
            shard.lock().unwrap_or_else(PoisonError::into_inner).arena.len() as u64
        };
        self.shards.iter().map(bytes).sum()
    }
}

impl Shard {
    fn insert(&mut self, key: &[u8], hash: u64, parent: Parent) -> Option<Id> {
        let mut at = self.start(hash);
        while self.slots[at] != 0 {
            let slot = self.slots[at];
            if slot >> 32 == hash >> 32 && self.key(slot as u32 - 1) == key {
                return None;
            }
            at = (at + 1) % self.slots.len();
        }
        let number = self.ends.len() as u32;
        self.slots[at] = hash >> 32 << 32 | u64::from(number + 1);
        self.arena.extend_from_slice(key);
        self.ends.push(self.arena.len() as u64);
        self.parents.push(parent);
        if self.ends.len() * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Some(number)
    }

    /// The shard was chosen by the lowest bits, and the highest are kept in the slot.
    fn start(&self, hash: u64) -> usize {
        (hash >> 8) as usize % self.slots.len()
    }

    fn key(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let from = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.arena[from as usize..self.ends[number] as usize]
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        for number in 0..self.ends.len() as u32 {
            let hash = hash(self.key(number));
            let mut at = self.start(hash);
            while self.slots[at] != 0 {
                at = (at + 1) % self.slots.len();
            }
            self.slots[at] = hash >> 32 << 32 | u64::from(number + 1);
        }
    }
}

/// A hash with fixed keys: eight bytes at a time, multiplied and folded, mixed in the end.
fn hash(key: &[u8]) -> u64 {
    let (words, rest) = key.as_chunks::<8>();
    let mut hash = key.len() as u64;
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = fold(hash ^ u64::from_le_bytes(last));
    hash ^ hash >> 29
}

const fn fold(word: u64) -> u64 {
    let wide = (word ^ 0x9e37_79b9_7f4a_7c15) as u128 * 0xd6e8_feb8_6659_fd93;
    (wide as u64) ^ (wide >> 64) as u64
}

/// Into how many parts the set is split.
const SHARDS: usize = 64;
/// How many slots each of them begins with.
const SLOTS_MIN: usize = 1 << 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_again_and_none_for_another() {
        let table = Table::new();
        let keys: Vec<Vec<u8>> = (0..40_000_u32)
            .map(|n| [&n.to_be_bytes()[..], &vec![7; n as usize % 13]].concat())
            .collect();
        let ids: Vec<Option<Id>> =
            keys.iter().zip(0..).map(|(key, n)| table.insert(key, (n, 3))).collect();
        let mut distinct: Vec<Id> = ids.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), keys.len());
        for (n, (key, id)) in (0..).zip(keys.iter().zip(ids)) {
            assert_eq!(table.insert(key, (0, 0)), None);
            assert_eq!(table.parent(id.expect("it was new")), (n, 3));
        }
        assert_eq!(table.bytes(), keys.iter().map(|key| key.len() as u64).sum::<u64>());
    }

    #[test]
    fn a_key_and_its_beginning_are_two() {
        let table = Table::new();
        for length in 0..40 {
            assert!(table.insert(&[0; 40][..length], (0, 0)).is_some(), "{length}");
        }
    }
}
