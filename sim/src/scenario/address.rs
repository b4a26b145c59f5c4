//! Addresses in words: what a fault hits and what a choice is about, by the numbers that a trace shows.

use std::collections::BTreeMap;

use crate::{
    dice::Site,
    walk::{DIES, MEETS, PICKS, REFUSALS, SKIPS, STALL_MIN_MS, STALLS, TWISTS},
    world::{CALLS, COPIES, EFFECT, KINDS, LAG, SILENT, Twist},
};

/// Numbers by their names, in the order in which they are written.
pub type Numbers = Vec<(&'static str, u32)>;

/// A site in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What happens or is chosen.
    pub what: &'static str,
    /// The step that it is about; empty where it is about none.
    pub step: &'static str,
    /// Where.
    pub numbers: Numbers,
}

/// A fault in words: that of a step, or the end or the standstill of the process that would take it.
pub fn fault(site: Site) -> Option<Words> {
    let [a, b, c] = site.of;
    if site.purpose == SILENT {
        let numbers = vec![("receipt", a), ("claim", b), ("tries", c)];
        return Some(Words { what: "acts-silently", step: HANDLER, numbers });
    }
    let kind = KINDS.get((c >> 8) as usize)?;
    let what = match site.purpose {
        DIES => "crash",
        STALLS => "stall",
        purpose => twists(c >> 8, a).get(usize::from(purpose.checked_sub(TWISTS)?))?.name(),
    };
    Some(Words { what, step: kind.name, numbers: numbers(c >> 8, [a, b], c & 0xff) })
}

/// The site of a fault; else what was expected.
pub(super) fn fault_site(
    what: &str,
    step: &str,
    given: &BTreeMap<String, u64>,
) -> Result<Site, String> {
    if step == HANDLER {
        let mut given = Given { left: given.clone() };
        let of = [given.take("receipt")?, given.take("claim")?, given.take_or("tries", 0)?];
        given.none_left()?;
        return match what {
            "acts-silently" => Ok(Site { purpose: SILENT, of }),
            what => Err(format!("`{what}` does not hit `{step}`: expected acts-silently")),
        };
    }
    let no = step_named(step)?;
    let (of, tries) = place(no, given)?;
    let names = || {
        let twists = twists(no, of[0]).iter().map(|twist| twist.name());
        ["crash", "stall"].into_iter().chain(twists).collect::<Vec<_>>().join(", ")
    };
    let purpose = match what {
        "crash" => DIES,
        "stall" => STALLS,
        what => {
            let at = twists(no, of[0]).iter().position(|twist| twist.name() == what);
            let at = at.ok_or_else(|| {
                format!("`{what}` does not hit `{step}`: expected one of {}", names())
            })?;
            TWISTS + at as u8
        }
    };
    Ok(Site::new(purpose, of[0], of[1], no << 8 | tries))
}

/// A choice in words.
pub fn choice(site: Site) -> Option<Words> {
    let [a, b, c] = site.of;
    if site.purpose >> 5 == LAG >> 5 {
        let no = u32::from(site.purpose & !LAG);
        let kind = KINDS.get(no as usize)?;
        return Some(Words { what: "lag", step: kind.name, numbers: numbers(no, [a, b], c) });
    }
    if site.purpose == MEETS && c > 0 {
        let kind = KINDS.get((c >> 8) as usize)?;
        let numbers = numbers(c >> 8, [a, b], c & 0xff);
        return Some(Words { what: WAITS, step: kind.name, numbers });
    }
    let (_, what, names) = CHOICES.iter().find(|(purpose, ..)| *purpose == site.purpose)?;
    let named = names.iter().zip(site.of).filter(|(name, _)| !name.is_empty());
    Some(Words { what, step: "", numbers: named.map(|(name, number)| (*name, number)).collect() })
}

/// The site of a choice; else what was expected.
pub(super) fn choice_site(
    what: &str,
    step: &str,
    given: &BTreeMap<String, u64>,
) -> Result<Site, String> {
    if what == "lag" || what == WAITS {
        let no = step_named(step)?;
        let ([a, b], tries) = place(no, given)?;
        return Ok(match what {
            WAITS => Site::new(MEETS, a, b, no << 8 | tries),
            _ => Site::new(LAG | no as u8, a, b, tries),
        });
    }
    let known = || CHOICES.iter().map(|(_, name, _)| *name).chain(["lag", WAITS]);
    let Some((purpose, _, names)) = CHOICES.iter().find(|(_, name, _)| *name == what) else {
        let known: Vec<_> = known().collect();
        return Err(format!("no choice is called `{what}`: expected one of {}", known.join(", ")));
    };
    let mut given = Given { left: given.clone() };
    let [a, b, c] = *names;
    let of = [given.take(a)?, given.take(b)?, given.take(c)?];
    given.none_left()?;
    Ok(Site::new(*purpose, of[0], of[1], of[2]))
}

/// The status that a refusal answers with.
pub(super) fn refusal(fault: Site, choices: &BTreeMap<Site, u64>) -> Option<u16> {
    let [a, _, c] = fault.of;
    let at = usize::from(fault.purpose.checked_sub(TWISTS)?);
    let refuses = matches!(twists(c >> 8, a).get(at), Some(Twist::Refuse(_)));
    let roll = choices.get(&fault).copied().unwrap_or(0);
    refuses.then(|| REFUSALS[(roll % REFUSALS.len() as u64) as usize])
}

/// The choice that makes a refusal answer with a status.
pub(super) fn refusing(status: u16) -> Result<u64, String> {
    let at = REFUSALS.iter().position(|known| *known == status);
    at.map(|at| at as u64).ok_or_else(|| format!("status {status}: expected one of {REFUSALS:?}"))
}

/// How long a standstill lasts, where it is chosen.
pub(super) fn standstill_ms(fault: Site, choices: &BTreeMap<Site, u64>) -> Option<u64> {
    let chosen = (fault.purpose == STALLS).then(|| choices.get(&fault))?;
    chosen.map(|more_ms| STALL_MIN_MS + more_ms)
}

fn twists(no: u32, row: u32) -> &'static [Twist] {
    let kind = &KINDS[no as usize];
    if row & EFFECT > 0 && kind.which == COPIES { &CALLS } else { kind.twists }
}

fn step_named(name: &str) -> Result<u32, String> {
    let no = KINDS.iter().position(|kind| kind.name == name);
    no.map(|no| no as u32).ok_or_else(|| {
        let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        format!("no step is called `{name}`: expected one of {}", known.join(", "))
    })
}

fn numbers(no: u32, [a, b]: [u32; 2], tries: u32) -> Numbers {
    let kind = &KINDS[no as usize];
    let row = if a & EFFECT > 0 { (EFFECTS, a & !EFFECT) } else { (kind.row, a) };
    let mut numbers = vec![row];
    match kind.which {
        "" => {}
        COPIES => {
            numbers.push(("claim", b / COPIES_MAX));
            numbers.extend((b % COPIES_MAX > 0).then_some(("copy", b % COPIES_MAX)));
        }
        which => numbers.push((which, b)),
    }
    numbers.extend((tries > 0).then_some(("tries", tries)));
    numbers
}

/// The numbers of a step, and its tries.
fn place(no: u32, given: &BTreeMap<String, u64>) -> Result<([u32; 2], u32), String> {
    let kind = &KINDS[no as usize];
    let mut given = Given { left: given.clone() };
    let a = match given.left.remove(EFFECTS) {
        Some(effect) if kind.row == "delivery" => Given::small(EFFECTS, effect)? | EFFECT,
        Some(_) => return Err(format!("`{}` is never of an effect", kind.name)),
        None => given.take(kind.row)?,
    };
    let b = match kind.which {
        "" => 0,
        COPIES => {
            let claim = given.take("claim")?.min(u32::MAX / COPIES_MAX - 1);
            claim * COPIES_MAX + given.take_or("copy", 0)?.min(COPIES_MAX - 1)
        }
        which => given.take(which)?,
    };
    let tries = given.take_or("tries", 0)?;
    given.none_left()?;
    Ok(([a, b], tries))
}

/// The numbers that a file gives.
struct Given {
    left: BTreeMap<String, u64>,
}

impl Given {
    fn take(&mut self, name: &str) -> Result<u32, String> {
        if name.is_empty() {
            return Ok(0);
        }
        let number = self.left.remove(name).ok_or_else(|| format!("expected `{name}`"))?;
        Self::small(name, number)
    }

    fn take_or(&mut self, name: &str, usual: u32) -> Result<u32, String> {
        self.left.remove(name).map_or(Ok(usual), |number| Self::small(name, number))
    }

    fn small(name: &str, number: u64) -> Result<u32, String> {
        u32::try_from(number)
            .map_err(|_| format!("`{name}` is {number}: expected at most {}", u32::MAX))
    }

    fn none_left(self) -> Result<(), String> {
        self.left
            .into_keys()
            .next()
            .map_or(Ok(()), |name| Err(format!("`{name}` says nothing here")))
    }
}

/// The choices that are not about how long a step takes: purpose, name, names of its numbers.
const CHOICES: [(u8, &str, [&str; 3]); 22] = [
    (0x80, "claim-jitter", ["delivery", "claim", "side"]),
    (0x81, "settle-jitter", ["delivery", "claim", "side"]),
    (0x82, "work-jitter", ["receipt", "claim", ""]),
    (0x83, "made-durable", ["now_ms", "side", ""]),
    (0x84, "handler-ends-after", ["receipt", "claim", "tries"]),
    (0x8a, "write-that-fails", ["receipt", "claim", "tries"]),
    (0x86, "publishes-at-once", ["event", "", ""]),
    (0x87, "publishes-another-body", ["event", "call", ""]),
    (0x88, "asks-again", ["receipt", "claim", ""]),
    (0x89, "is-unheard", ["now_ms", "side", ""]),
    (0x8b, "warrant", ["receipt", "", ""]),
    (0x8c, "taken-id", ["row", "now_ms", ""]),
    (0x90, "ingress", ["delivery", "claim", "copy"]),
    (0x91, "retry-after", ["delivery", "claim", ""]),
    (0x92, "installs-secret", ["endpoint", "secret", ""]),
    (0x93, "address", ["delivery", "claim", ""]),
    (0x94, "nonce", ["endpoint", "now_ms", ""]),
    (0x95, "attack", ["delivery", "claim", ""]),
    (0x96, "hangs-for", ["delivery", "claim", "copy"]),
    (PICKS, "pick", ["look", "process", "nth"]),
    (SKIPS, "skip", ["look", "row", ""]),
    (MEETS, "meets", ["deed", "now_ms", ""]),
];

/// What a transaction is called that waits for a person.
const WAITS: &str = "waits";
/// What the run of somebody's own handler is called.
const HANDLER: &str = "handler";
/// What an effect outside is called.
const EFFECTS: &str = "effect";
/// How many copies of a request there can be.
const COPIES_MAX: u32 = 8;
