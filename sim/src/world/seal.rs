//! What vouches for a request: secrets and their lives, signatures, verification; which addresses are
//! dialled; and what attackers make of what they have seen.
//!
//! A signature is modelled by what it covers. Bytes are another room's matter (`hookproof-core` with its
//! features): here it counts what was signed, when, and by whose secrets.

use hookproof_core::{Id, Millis, outbox::Ticket};

use super::{Ctx, NOBODY, Parcel, STALLED, Step, Task, Twist, World, db::index};
use serde::{Deserialize, Serialize};

use crate::{
    dice::Site,
    history::{
        Address, Authentic, Body, DeliveryId, DeliveryNo, EndpointNo, Fact, Node, SecretLife, Side,
    },
    rogue::Rogue,
};

/// What a signature covers, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The endpoint whose secrets signed.
    pub signer: u32,
    /// The secrets that signed, as a set of numbers below 16.
    pub secrets: u16,
    /// The signed time.
    pub at: Millis,
    /// The signed bytes.
    pub body: Body,
    /// The signed delivery id.
    pub id: DeliveryId,
}

/// The secrets of one endpoint, as sets of numbers below 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// How many were made so far.
    pub made: u8,
    /// Those that are neither gone nor revoked.
    pub live: u16,
    /// Those that the sender signs with.
    pub signs: u16,
    /// Those that the receiver accepts.
    pub accepts: u16,
}

impl Ring {
    /// One secret, from the start.
    pub const FIRST: Self = Self { made: 1, live: 1, signs: 1, accepts: 1 };
}

/// What becomes of a secret when its time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The receiver's operator configures it beside the old one.
    Install(u8),
    /// The sender signs with it alone from here on.
    Switch(u8),
    /// Its overlap is over.
    Forget(u8),
}

/// What the addresses of a callback's host are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// All of them may be dialled.
    Public,
    /// The first may, another may not.
    Mixed,
    /// None may.
    Private,
}

impl World {
    /// A new secret for an endpoint, with an overlap. In the middle of another rotation: nothing.
    pub(super) fn rotate(&mut self, endpoint: u32, ctx: &mut Ctx<'_>) {
        let ring = self.rings[endpoint as usize];
        let scheme = ctx.setup.terms.scheme;
        let (old, new) = (ring.live.trailing_zeros() as u8, ring.made);
        if ring.live.count_ones() != 1 || new == SECRETS_MAX {
            return;
        }
        let made = secret(endpoint, new, SecretLife::Made);
        let retired = scheme.lists.then_some(secret(endpoint, old, SecretLife::Retired));
        if !self.change_secret(endpoint, [Some(made), retired], ctx) {
            return;
        }
        let ring = &mut self.rings[endpoint as usize];
        ring.made += 1;
        ring.live |= 1 << new;
        let within_ms = if scheme.lists {
            ring.signs |= 1 << new;
            self.turn_in(scheme.overlap_ms, endpoint, Turn::Forget(old));
            scheme.overlap_ms
        } else {
            self.turn_in(scheme.notice_ms, endpoint, Turn::Switch(new));
            scheme.notice_ms
        };
        let site = Site::new(INSTALLS, endpoint, u32::from(new), 0);
        let after_ms = ctx.chance.below(site, within_ms.max(1));
        self.turn_in(after_ms, endpoint, Turn::Install(new));
    }

    /// Every secret of an endpoint is revoked at once, at both sides, for a new one.
    pub(super) fn revoke(&mut self, endpoint: u32, ctx: &mut Ctx<'_>) {
        let ring = self.rings[endpoint as usize];
        if ring.made == SECRETS_MAX {
            return;
        }
        let made = secret(endpoint, ring.made, SecretLife::Made);
        if !self.change_secret(endpoint, [Some(made), None], ctx) {
            return;
        }
        for old in (0..ring.made).filter(|old| ring.live & (1 << old) != 0) {
            self.say(ctx, Node::Operator, secret(endpoint, old, SecretLife::Revoked));
        }
        let only = 1 << ring.made;
        self.rings[endpoint as usize] =
            Ring { made: ring.made + 1, live: only, signs: only, accepts: only };
        self.tasks.retain(
            |task| !matches!(task.step, Step::Secret { endpoint: of, .. } if of == endpoint),
        );
    }

    /// A change of a secret is one of its endpoint: claims decided on the old one load again.
    fn change_secret(
        &mut self,
        endpoint: u32,
        facts: [Option<Fact>; 2],
        ctx: &mut Ctx<'_>,
    ) -> bool {
        let row = self.db(Side::Sender).endpoints[endpoint as usize];
        let Some(plan) = row.change() else { return false };
        self.commit(Side::Sender, Node::Operator, plan, None, ctx, |(), _| facts).is_ok()
    }

    fn turn_in(&mut self, ms: u64, endpoint: u32, turn: Turn) {
        let step = Step::Secret { endpoint, turn };
        self.tasks.push(Task { at: self.now + ms, owner: NOBODY, tries: 0, step });
    }

    /// What was appointed for a secret.
    pub(super) fn turn_secret(&mut self, endpoint: u32, turn: Turn, ctx: &mut Ctx<'_>) {
        let overlap_ms = ctx.setup.terms.scheme.overlap_ms;
        let ring = &mut self.rings[endpoint as usize];
        match turn {
            Turn::Install(new) => ring.accepts |= 1 << new,
            Turn::Switch(new) => {
                let old = (ring.live & !(1 << new)).trailing_zeros() as u8;
                ring.signs = 1 << new;
                ring.accepts |= 1 << new;
                self.turn_in(overlap_ms, endpoint, Turn::Forget(old));
                self.say(ctx, Node::Operator, secret(endpoint, old, SecretLife::Retired));
            }
            Turn::Forget(old) => {
                let rest = !(1 << old);
                ring.live &= rest;
                ring.signs &= rest;
                ring.accepts &= rest;
                self.say(ctx, Node::Operator, secret(endpoint, old, SecretLife::Gone));
            }
        }
    }

    /// Signs a request that starts now, with the secrets live now. The worker's clock is that of the
    /// database which it claimed from.
    pub(super) fn sealed(&self, parcel: Parcel, ctx: &Ctx<'_>) -> Parcel {
        let signer = parcel.ticket.endpoint.0 as u32;
        let body = ctx.rogue.map_or(parcel.body, |rogue| rogue.respells(&parcel));
        let secrets = self.rings[signer as usize];
        let secrets = ctx.rogue.map_or(secrets.signs, |rogue| rogue.signs_with(&secrets));
        let now = self.db_now(Side::Sender);
        let at = match self.db(Side::Sender).delivery(parcel.ticket.delivery) {
            Some(row) if ctx.is(Rogue::FirstSignatureReused) && row.attempt > 1 => row.created,
            _ => now,
        };
        Parcel { body, seal: Seal { signer, secrets, at, body, id: parcel.id }, ..parcel }
    }

    /// The address to dial, if the target's addresses are all such as may be dialled.
    pub(super) fn vet(&self, ticket: Ticket, ctx: &Ctx<'_>) -> Option<Address> {
        let target = self.targets[index(ticket.endpoint)];
        let site = Site::new(DIALS, index(ticket.delivery) as u32, ticket.fence, 0);
        let picked = match target {
            Target::Mixed if ctx.chance.below(site, 2) == 0 => Target::Public,
            target => target,
        };
        let blind = match target {
            Target::Public => return Some(Address::Vetted),
            Target::Mixed => {
                ctx.is(Rogue::VetsOnlyAtRegistration) || ctx.is(Rogue::LooksAtFirstAddressOnly)
            }
            Target::Private => ctx.is(Rogue::VetsOnlyAtRegistration),
        };
        let dialled = if picked == Target::Public { Address::Vetted } else { Address::Other };
        blind.then_some(dialled)
    }

    /// Says that a connection was opened.
    pub(super) fn dialled(&self, ticket: Ticket, address: Address, by: Node, ctx: &mut Ctx<'_>) {
        let (delivery, attempt) = (DeliveryNo(index(ticket.delivery) as u32), ticket.attempt);
        self.say(ctx, by, Fact::Dialled { delivery, attempt, address });
    }

    /// What the observer knows of the origin of a request that arrives.
    pub(super) fn authentic(&self, parcel: &Parcel, ctx: &Ctx<'_>) -> Authentic {
        let Parcel { seal, .. } = parcel;
        if seal.signer != parcel.ticket.endpoint.0 as u32 {
            Authentic::Foreign
        } else if seal.secrets == 0 || seal.body != parcel.body || !shows_its_id(parcel, ctx) {
            Authentic::Forged
        } else if seal.secrets & self.rings[seal.signer as usize].live == 0 {
            Authentic::Outlived
        } else if self.is_fresh(seal.at, ctx) {
            Authentic::Yes
        } else {
            Authentic::Stale
        }
    }

    /// The status with which an ingress turns a request away before anything else; `None`: it verifies.
    pub(super) fn turned_away(&self, parcel: &Parcel, tries: u8, ctx: &Ctx<'_>) -> Option<u16> {
        // What was verified is not verified again after a conflict.
        if tries & !STALLED > 0 || ctx.is(Rogue::StoresThenVerifies) || self.verifies(parcel, ctx) {
            return None;
        }
        Some(if ctx.is(Rogue::VerifierThrows500) { 500 } else { UNAUTHORISED })
    }

    /// Each candidate against each secret that is accepted on this path, over what it covers.
    pub(super) fn verifies(&self, parcel: &Parcel, ctx: &Ctx<'_>) -> bool {
        let Parcel { seal, body, .. } = *parcel;
        let path = parcel.ticket.endpoint.0 as u32;
        let any_path = ctx.is(Rogue::AnyAccountsSecretOnAnyPath);
        let source = if any_path { seal.signer } else { path };
        let candidates = if seal.signer == source {
            seal.secrets & self.rings[source as usize].accepts
        } else {
            0
        };
        let body = if ctx.is(Rogue::VerifiesReserialisedJson) { reserialised(body) } else { body };
        let unread = ctx.is(Rogue::ReadsV1AsSingleValue) && seal.secrets.count_ones() > 1
            || ctx.is(Rogue::MalformedCandidateBlocksGood) && ctx.setup.terms.scheme.strangers;
        candidates != 0
            && body == seal.body
            && shows_its_id(parcel, ctx)
            && self.is_fresh(seal.at, ctx)
            && !unread
    }

    fn is_fresh(&self, at: Millis, ctx: &Ctx<'_>) -> bool {
        let now = Millis(self.now.0.saturating_add_signed(self.ingress_ahead_ms));
        now.since(at).max(at.since(now)) <= ctx.setup.terms.scheme.tolerance_ms
    }

    /// The source shows the URL that it was given a value, and wants it back.
    pub(super) fn greet(&self, endpoint: u32, ctx: &mut Ctx<'_>) {
        let ingress = ctx.setup.relays;
        let up = self.processes[usize::from(ingress)].up && ctx.setup.ingresses > 0;
        if !ctx.setup.terms.scheme.greets || !up {
            return;
        }
        let site = Site::new(GREETS, endpoint, self.now.0 as u32, 0);
        let nonce = ctx.chance.below(site, u64::from(u32::MAX)) as u32;
        let echo = (!ctx.is(Rogue::OkWhereHandshakeIsWanted)).then_some(nonce);
        let endpoint = EndpointNo(endpoint);
        self.say(
            ctx,
            self.node(ingress, ctx),
            Fact::Greeted { endpoint, nonce, status: 200, echo },
        );
    }

    /// What an attacker makes of a request on its way, and what goes on of it.
    pub(super) fn attack(&mut self, parcel: Parcel, twist: Twist, ctx: &Ctx<'_>) -> Parcel {
        let scheme = &ctx.setup.terms.scheme;
        let lag_ms = ctx.setup.lags.net_ms * 20;
        let site = Site::new(ATTACKS, index(parcel.ticket.delivery) as u32, parcel.ticket.fence, 0);
        let roll = ctx.chance.roll(site);
        let made_up = Body(parcel.body.0 / 4 * 4 + 2);
        match twist {
            Twist::Forge => {
                let forged = self.forged(Parcel { body: made_up, ..parcel }, roll, ctx);
                self.again(NOBODY, lag_ms, 1, Step::Request(forged), ctx);
            }
            Twist::Tamper => {
                let body = if roll.is_multiple_of(2) { made_up } else { Body(parcel.body.0 | 3) };
                return Parcel { body, ..parcel };
            }
            Twist::Replay => {
                let copy = Parcel { from: NOBODY, copy: 6, ..parcel };
                self.again(
                    NOBODY,
                    lag_ms.min(scheme.tolerance_ms / 2),
                    1,
                    Step::Request(copy),
                    ctx,
                );
            }
            Twist::ReplayLate => {
                let copy = Parcel { from: NOBODY, copy: 5, ..parcel };
                let past_ms = scheme.tolerance_ms + 2 * ctx.setup.terms.skew_ms + 1;
                let at = self.now + past_ms + roll % scheme.tolerance_ms.max(1);
                self.tasks.push(Task { at, owner: NOBODY, tries: 1, step: Step::Request(copy) });
            }
            Twist::Relabel => {
                let id = DeliveryId((parcel.id.0 + 1) % ctx.setup.deliveries());
                return Parcel { id, ..parcel };
            }
            _ => unreachable!("the other twists are no attacks"),
        }
        parcel
    }

    /// A request in the place of another, with bytes of an attacker's choice: unsigned, or, where the
    /// attacker has an account, signed by the secret of that one.
    fn forged(&self, like: Parcel, roll: u64, ctx: &Ctx<'_>) -> Parcel {
        let path = like.ticket.endpoint.0 as u32;
        let other = (path + 1) % ctx.setup.endpoints;
        let (signer, secrets) = if other != path && roll.is_multiple_of(2) {
            (other, self.rings[other as usize].signs)
        } else {
            (path, 0)
        };
        let seal = Seal { signer, secrets, body: like.body, ..like.seal };
        Parcel { from: NOBODY, copy: 4, seal, ..like }
    }
}

/// Whether the id in the header is the signed one, or nobody looks at it.
fn shows_its_id(parcel: &Parcel, ctx: &Ctx<'_>) -> bool {
    !ctx.setup.terms.scheme.covers_header || parcel.id == parcel.seal.id
}

/// The bytes that a parser and a printer make of others: every second event's are spelled otherwise
/// than their printer would.
pub(crate) fn reserialised(body: Body) -> Body {
    let event = body.0 / 4;
    match body.0 % 4 {
        0 | 3 => Body(event * 4 + if event % 2 == 1 { 3 } else { 0 }),
        _ => body,
    }
}

/// The id under which a request is known: the signed one, never the header's copy.
pub(super) fn known_id(parcel: &Parcel, ctx: &Ctx<'_>) -> DeliveryId {
    if ctx.is(Rogue::IdFromUnsignedHeader) { parcel.id } else { parcel.seal.id }
}

/// The key of what is known by this id.
pub(super) fn key(id: DeliveryId) -> Id {
    Id(u128::from(id.0))
}

fn secret(endpoint: u32, secret: u8, life: SecretLife) -> Fact {
    Fact::Secret { endpoint: EndpointNo(endpoint), secret: u16::from(secret), life }
}

/// The status of a request that does not verify.
const UNAUTHORISED: u16 = 401;
/// How many secrets an endpoint has in a history at most.
const SECRETS_MAX: u8 = 16;
const INSTALLS: u8 = 0x92;
const DIALS: u8 = 0x93;
const GREETS: u8 = 0x94;
const ATTACKS: u8 = 0x95;
