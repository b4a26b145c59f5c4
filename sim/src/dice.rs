//! Randomness by address: a roll is a function of the seed and of what is rolled for.
//!
//! There is no stream. Taking one fault out of a run leaves every other roll as it was, so a history
//! can be shrunk by deleting lines, and a counterfactual differs by its cause alone. And a seed is not
//! needed at all: what it decided can be written down by address, and told again ([`Script`]).

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

/// The dice of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice {
    seed: u64,
}

/// What a roll is for: a purpose and up to three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// What is decided.
    pub purpose: u8,
    /// Of what: three numbers, whose meaning is the purpose's.
    pub of: [u32; 3],
}

impl Site {
    /// The address of a roll.
    pub const fn new(purpose: u8, a: u32, b: u32, c: u32) -> Self {
        Self { purpose, of: [a, b, c] }
    }

    const fn packed(self) -> u64 {
        let [a, b, c] = self.of;
        ((self.purpose as u64) << 56) ^ ((a as u64) << 36) ^ ((b as u64) << 16) ^ c as u64
    }
}

impl Dice {
    /// The dice of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed: mix(seed ^ 0x9e37_79b9_7f4a_7c15) }
    }

    /// The roll at a site.
    pub const fn roll(self, site: Site) -> u64 {
        mix(self.seed ^ site.packed().wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// Whether something with these odds, in 65,536ths, happens at a site.
    pub const fn hits(self, site: Site, odds: u32) -> bool {
        odds > 0 && (self.roll(site) >> 48) < odds as u64
    }

    /// A number below `bound` (0 where it is 0).
    pub const fn below(self, site: Site, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.roll(site) % bound }
    }
}

/// What is decided in a run, by address: which faults happen, and every choice that is not the usual
/// one. The usual choice is the last of those that there are, and the usual roll is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The faults that happen.
    pub faults: BTreeSet<Site>,
    /// The choices that are not the usual ones.
    pub choices: BTreeMap<Site, u64>,
}

/// What decides in a run.
#[derive(Clone, Copy, Debug)]
pub enum Chance<'a> {
    /// A seed.
    Seed(Dice),
    /// A seed, and what it decides is written down.
    Noted(Dice, &'a RefCell<Script>),
    /// A script. The faults of it that happened are kept.
    Told(&'a Script, &'a RefCell<BTreeSet<Site>>),
}

impl Chance<'_> {
    /// The roll at a site.
    pub fn roll(self, site: Site) -> u64 {
        match self {
            Self::Seed(dice) => dice.roll(site),
            Self::Noted(dice, script) => noted(script, site, dice.roll(site), 0),
            Self::Told(script, _) => script.choices.get(&site).copied().unwrap_or(0),
        }
    }

    /// Whether a fault with these odds, in 65,536ths, happens at a site.
    pub fn hits(self, site: Site, odds: u32) -> bool {
        match self {
            Self::Seed(dice) => dice.hits(site, odds),
            Self::Noted(dice, script) => {
                dice.hits(site, odds) && {
                    script.borrow_mut().faults.insert(site);
                    true
                }
            }
            Self::Told(script, happened) => {
                script.faults.contains(&site) && {
                    happened.borrow_mut().insert(site);
                    true
                }
            }
        }
    }

    /// A number below `bound` (0 where it is 0).
    pub fn below(self, site: Site, bound: u64) -> u64 {
        let usual = bound.saturating_sub(1);
        match self {
            Self::Seed(dice) => dice.below(site, bound),
            Self::Noted(dice, script) => noted(script, site, dice.below(site, bound), usual),
            Self::Told(script, _) => script.choices.get(&site).map_or(usual, |is| usual.min(*is)),
        }
    }
}

fn noted(script: &RefCell<Script>, site: Site, is: u64, usual: u64) -> u64 {
    if is != usual {
        script.borrow_mut().choices.insert(site, is);
    }
    is
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood 2014).
const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_roll_depends_on_its_seed_and_its_site_alone() {
        let site = Site::new(3, 7, 1, 2);
        assert_eq!(Dice::new(5).roll(site), Dice::new(5).roll(site));
        assert_ne!(Dice::new(5).roll(site), Dice::new(6).roll(site));
        assert_ne!(Dice::new(5).roll(site), Dice::new(5).roll(Site::new(3, 7, 2, 1)));
    }

    #[test]
    fn odds_are_kept_roughly() {
        let hits = (0..65_536).filter(|&i| Dice::new(1).hits(Site::new(0, i, 0, 0), 6_554)).count();
        assert!((6_000..7_100).contains(&hits), "{hits}");
        assert!(!Dice::new(1).hits(Site::new(0, 0, 0, 0), 0));
        assert!(Dice::new(1).hits(Site::new(0, 0, 0, 0), 65_536));
    }
}
