//! The world in a key: exactly, briefly, and without absolute times.
//!
//! Two worlds with equal keys (under one setup and one rogue) have the same future, up to the names of
//! identical processes. What a key leaves out, and why the future cannot tell:
//!
//! - *When it is.* Instants are written as how far ahead of the database's clock they lie. What has
//!   passed is one value, since a row is asked for its wake, lease or cap only by comparing it with a
//!   later clock. A task that decided on an older clock carries how old that is.
//! - *Revisions and claims.* They are compared for equality alone, so a row's own are the origin, and a
//!   task says how far from it the rows are that it was loaded with: nothing, where they are current.
//! - *Which relay.* Relays of one kind run one program. A relay is the tasks that it owns or waits
//!   for, and the set of relays is sorted by these; the same for workers.
//! - *When a process next looks.* The explorer lets it look at any time.
//! - *When a row was made.* It decides by the resend window, the retention and what an endpoint left
//!   behind; the first two never end in a small world (its constructor sees to that), the third is
//!   written for each event that still waits for its fan-out.
//! - *When a request was signed.* Signatures do not grow stale in a small world (its constructor sees
//!   to that).
//! - *Alerts that were sent, and sweeps that are done.* Nothing reads them.

mod rows;
mod tasks;

use hookproof_core::{
    Millis,
    model::{Early, Order},
};

use super::{
    World,
    db::Db,
    seal::{Ring, Target},
};
use crate::{
    history::Side,
    oracle::{Names, pack::number},
    setup::{POISONED, Setup},
};

/// What a world is packed under.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The run.
    pub setup: &'a Setup,
    /// No process can die any more, so that it does not matter whose a task is.
    pub nameless: bool,
}

/// Packs worlds; its buffers are kept.
#[derive(Debug, Default)]
pub struct Packer {
    /// The encoded tasks, one after the other.
    bytes: Vec<u8>,
    /// The tasks in canonical order.
    items: Vec<Item>,
    /// The blocks of relays and of workers, in canonical order.
    blocks: Vec<u8>,
    relays: Vec<u8>,
    sent: Vec<u32>,
    worked: Vec<u32>,
    tied: bool,
}

/// An encoded task.
#[derive(Clone, Copy, Debug)]
struct Item {
    block: u8,
    /// How its text begins, as a number: most comparisons end here.
    begins: u64,
    task: u32,
    from: u32,
    to: u32,
}

impl Packer {
    /// Appends everything that the future depends on.
    pub fn pack(&mut self, world: &World, sight: Sight<'_>, key: &mut Vec<u8>) {
        self.sort(world, sight);
        write_flags(world, sight, key);
        for side in [Side::Sender, Side::Receiver] {
            rows::write(world.db(side), world.now, sight.setup, key);
        }
        for (side, kept) in world.durable.iter().enumerate() {
            key.push(u8::from(kept.is_some()));
            if let Some(kept) = kept {
                rows::write(kept, kept.now(world.now), sight.setup, key);
                number(key, side as u64);
            }
        }
        self.write_blocks(world, key);
    }

    /// Puts the tasks in canonical order.
    fn sort(&mut self, world: &World, sight: Sight<'_>) {
        self.name(world);
        self.encode(world, sight);
        self.order(world, sight);
    }

    /// The tasks that differ, in canonical order, by their numbers.
    pub fn tasks(&self) -> impl Iterator<Item = u32> {
        self.items.iter().enumerate().filter_map(|(at, item)| {
            let again = at > 0 && self.is_alike(&self.items[at - 1], item);
            (!again).then_some(item.task)
        })
    }

    /// What the packed world calls its relays and claims.
    pub fn names(&self) -> Names<'_> {
        Names { relays: &self.relays, sent: &self.sent, worked: &self.worked }
    }

    /// Whether two relays look alike from here, so that their names could be exchanged.
    pub fn tied(&self) -> bool {
        self.tied
    }

    /// Exchanges the names of two relays that look alike.
    pub fn exchange(&mut self) {
        self.relays.swap(0, 1);
    }

    fn is_alike(&self, a: &Item, b: &Item) -> bool {
        a.block == b.block && self.text(a) == self.text(b)
    }

    fn text(&self, item: &Item) -> &[u8] {
        &self.bytes[item.from as usize..item.to as usize]
    }

    /// A claim is named by its distance from the row's last one.
    fn name(&mut self, world: &World) {
        let [sender, receiver] = &world.dbs;
        self.sent.clear();
        self.sent.extend(sender.deliveries.iter().map(|row| row.map_or(0, |row| row.fence)));
        self.worked.clear();
        self.worked.extend(receiver.receipts.iter().map(|row| row.map_or(0, |row| row.fence)));
    }

    fn write_blocks(&self, world: &World, key: &mut Vec<u8>) {
        for &block in &self.blocks {
            let items = self.of_block(block);
            key.push(world.processes.get(usize::from(block)).map_or(2, |row| u8::from(row.up)));
            number(key, items.len() as u64);
            for item in items {
                key.extend_from_slice(self.text(item));
            }
        }
    }

    fn of_block(&self, block: u8) -> &[Item] {
        let from = self.items.partition_point(|item| item.block < block);
        let to = self.items.partition_point(|item| item.block <= block);
        &self.items[from..to]
    }

    /// Sorts the tasks within their blocks, and the blocks of each kind.
    fn order(&mut self, world: &World, sight: Sight<'_>) {
        let bytes = &self.bytes;
        let text = |item: &Item| &bytes[item.from as usize..item.to as usize];
        self.items.sort_unstable_by(|a, b| {
            let of = |item: &Item| (item.block, item.begins);
            of(a).cmp(&of(b)).then_with(|| (text(a), a.task).cmp(&(text(b), b.task)))
        });
        let Setup { relays, ingresses, workers, .. } = *sight.setup;
        let first_worker = relays + ingresses;
        let effects = first_worker + workers;
        self.blocks.clear();
        self.blocks.extend(0..relays);
        self.blocks.extend(first_worker..=effects);
        self.blocks.push(COMMON);
        let mut blocks = core::mem::take(&mut self.blocks);
        let (mut senders, receivers) = (usize::from(relays), usize::from(workers));
        self.tied = false;
        if sight.nameless {
            senders = 0;
        } else {
            blocks[..senders].sort_by(|a, b| self.compare(world, *a, *b));
            blocks[senders..senders + receivers].sort_by(|a, b| self.compare(world, *a, *b));
            self.tied = senders == 2 && self.compare(world, blocks[0], blocks[1]).is_eq();
        }
        self.relays.clear();
        self.relays.resize(usize::from(relays), 0);
        for (rank, &block) in blocks[..senders].iter().enumerate() {
            self.relays[usize::from(block)] = rank as u8;
        }
        self.blocks = blocks;
    }

    fn compare(&self, world: &World, a: u8, b: u8) -> core::cmp::Ordering {
        let up = |block: u8| world.processes[usize::from(block)].up;
        let texts = |block: u8| self.of_block(block).iter().map(|item| self.text(item));
        up(a).cmp(&up(b)).then_with(|| texts(a).cmp(texts(b)))
    }
}

fn write_flags(world: &World, sight: Sight<'_>, key: &mut Vec<u8>) {
    let World { repaired, cut, endpoints_down, pool_free, cursor, quiet, .. } = world;
    let flags = [*repaired, cut[0], cut[1], pool_free[0], pool_free[1], *quiet];
    key.push(flags.into_iter().fold(0, |byte, flag| byte << 1 | u8::from(flag)));
    number(key, u64::from(*endpoints_down));
    number(key, u64::from(*cursor));
    number(key, world.done_outside.len() as u64);
    for &done in &world.done_outside {
        number(key, done);
    }
    for (planned, failures) in sight.setup.events.iter().zip(&world.failures) {
        if planned.poison != 0 && planned.poison != POISONED {
            key.push((*failures).min(planned.poison));
        }
    }
    write_truth(world, sight, key);
    for db in &world.dbs {
        let Db { ahead_ms, up, writable, .. } = db;
        key.push(u8::from(*up) | u8::from(*writable) << 1);
        number(key, ahead_ms.unsigned_abs() << 1 | u64::from(*ahead_ms < 0));
    }
    write_trust(world, key);
    for (process, row) in world.processes.iter().enumerate() {
        // Relays and workers have their flags in their blocks.
        if !is_named_by_block(process as u8, sight.setup) {
            key.push(u8::from(row.up));
        }
    }
}

/// What the authoritative API knows matters where it is asked.
fn write_truth(world: &World, sight: Sight<'_>, key: &mut Vec<u8>) {
    let terms = &sight.setup.terms;
    for (truth, model) in world.truth.iter().zip(&terms.model_of) {
        let model = &terms.models[usize::from(*model)];
        if model.early() == Early::Refetch || model.order() == Order::Instant {
            for known in truth {
                key.push(known.state.0);
                number(key, known.version);
            }
        }
    }
}

/// Secrets and targets. Mostly they are as at the start.
fn write_trust(world: &World, key: &mut Vec<u8>) {
    let World { rings, targets, ingress_ahead_ms, .. } = world;
    let as_at_start = rings.iter().all(|ring| *ring == Ring::FIRST)
        && targets.iter().all(|target| *target == Target::Public)
        && *ingress_ahead_ms == 0;
    key.push(u8::from(!as_at_start));
    if as_at_start {
        return;
    }
    for Ring { made, live, signs, accepts } in rings {
        for set in [u16::from(*made), *live, *signs, *accepts] {
            number(key, u64::from(set));
        }
    }
    key.extend(targets.iter().map(|target| *target as u8));
    number(key, ingress_ahead_ms.unsigned_abs() << 1 | u64::from(*ingress_ahead_ms < 0));
}

/// Whether a process is one of several that run one program.
fn is_named_by_block(process: u8, setup: &Setup) -> bool {
    process < setup.relays || process >= setup.relays + setup.ingresses
}

/// How long ago an instant was.
fn age(key: &mut Vec<u8>, now: Millis, then: Millis) {
    number(key, now.since(then));
}

/// The block of what is nobody's.
const COMMON: u8 = u8::MAX;
