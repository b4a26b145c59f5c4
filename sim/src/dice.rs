//! Randomness by address: a roll is a function of the seed and of what is rolled for.
//!
//! There is no stream. Taking one fault out of a run leaves every other roll as it was, so a history
//! can be shrunk by deleting lines, and a counterfactual differs by its cause alone.

/// The dice of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice {
    seed: u64,
}

/// What a roll is for: a purpose and up to three numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site(u64);

impl Site {
    /// The address of a roll.
    pub const fn new(purpose: u8, a: u32, b: u32, c: u32) -> Self {
        let site = (purpose as u64) << 56;
        Self(site ^ ((a as u64) << 36) ^ ((b as u64) << 16) ^ c as u64)
    }
}

impl Dice {
    /// The dice of a seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed: mix(seed ^ 0x9e37_79b9_7f4a_7c15) }
    }

    /// The roll at a site.
    pub const fn roll(self, site: Site) -> u64 {
        mix(self.seed ^ site.0.wrapping_mul(0xd1b5_4a32_d192_ed03))
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
