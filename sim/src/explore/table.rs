//! The set of visited states: whole keys, so that two states are never taken for one.
//!
//! Keys lie one after the other in an arena, each behind a head that says how long it is and how its
//! state was first reached; an open-addressing table holds where they lie, with a part of their hash.
//! Both are split into shards by the hash, each behind a lock of its own, so that threads seldom meet.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The set, with how each state was first reached.
#[derive(Debug)]
pub(super) struct Table {
    shards: Vec<Mutex<Shard>>,
}

/// A state's number: where its key lies.
pub(super) type Id = u32;

/// How a state was first reached: from which, and by which of its actions.
pub(super) type Parent = (Id, u16);

#[derive(Debug, Default)]
struct Shard {
    /// Each a part of a hash above the place of a key, counted from 1; 0: free.
    slots: Vec<u64>,
    /// Heads and keys, each from a multiple of [`ALIGN`] on.
    arena: Vec<u8>,
    keys: usize,
    /// How many bytes the keys take.
    bytes: u64,
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
        let at = self.shard(place).insert(key, hash, parent)?;
        Some(at * SHARDS as Id + place as Id)
    }

    /// How a state was first reached.
    pub(super) fn parent(&self, id: Id) -> Parent {
        self.shard(id as usize % SHARDS).parent(id / SHARDS as Id)
    }

    /// How many bytes the keys take.
    pub(super) fn bytes(&self) -> u64 {
        (0..SHARDS).map(|place| self.shard(place).bytes).sum()
    }

    fn shard(&self, place: usize) -> MutexGuard<'_, Shard> {
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn insert(&mut self, key: &[u8], hash: u64, parent: Parent) -> Option<u32> {
        let mut at = self.start(hash);
        while self.slots[at] != 0 {
            let slot = self.slots[at];
            if slot >> 32 == hash >> 32 && self.key(slot as u32 - 1) == key {
                return None;
            }
            at = (at + 1) % self.slots.len();
        }
        let place = (self.arena.len() / ALIGN) as u32;
        self.slots[at] = hash >> 32 << 32 | u64::from(place + 1);
        self.append(key, parent);
        if self.keys * 4 > self.slots.len() * 3 {
            self.grow();
        }
        Some(place)
    }

    fn append(&mut self, key: &[u8], (from, action): Parent) {
        let length = u16::try_from(key.len()).expect("the key of a small world is short");
        let head = u64::from(from) << 32 | u64::from(action) << 16 | u64::from(length);
        self.arena.extend_from_slice(&head.to_le_bytes());
        self.arena.extend_from_slice(key);
        self.arena.resize(self.arena.len().next_multiple_of(ALIGN), 0);
        self.keys += 1;
        self.bytes += key.len() as u64;
    }

    /// The shard was chosen by the lowest bits, and the highest are kept in the slot.
    fn start(&self, hash: u64) -> usize {
        (hash >> 8) as usize % self.slots.len()
    }

    fn parent(&self, place: u32) -> Parent {
        let head = self.head(place);
        ((head >> 32) as Id, (head >> 16) as u16)
    }

    fn key(&self, place: u32) -> &[u8] {
        let from = (place as usize + 1) * ALIGN;
        &self.arena[from..from + usize::from(self.head(place) as u16)]
    }

    fn head(&self, place: u32) -> u64 {
        let (heads, _) = self.arena.as_chunks::<ALIGN>();
        u64::from_le_bytes(heads[place as usize])
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 2];
        let mut place = 0;
        for _ in 0..self.keys {
            let key = self.key(place);
            let hash = hash(key);
            let next = place + 1 + key.len().div_ceil(ALIGN) as u32;
            let mut at = self.start(hash);
            while self.slots[at] != 0 {
                at = (at + 1) % self.slots.len();
            }
            self.slots[at] = hash >> 32 << 32 | u64::from(place + 1);
            place = next;
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
/// Where heads may lie: each is one word, with a key behind it.
const ALIGN: usize = size_of::<u64>();
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
