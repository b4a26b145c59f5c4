//! Time and progress, both for people alone.

use std::time::{Duration, Instant};

use hookproof_sim::prove::Watch;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar on standard error, shown where that is a terminal, and the end of a budget.
#[derive(Debug)]
pub(crate) struct Pace {
    bar: ProgressBar,
    deadline: Option<Instant>,
}

impl Pace {
    pub(crate) fn of_histories(count: u64, deadline: Option<Instant>) -> Self {
        Self::new(count, "histories", deadline)
    }

    pub(crate) fn of_rogues(count: u64, deadline: Option<Instant>) -> Self {
        Self::new(count, "rogues", deadline)
    }

    pub(crate) fn of_states(world: &'static str) -> Self {
        Self::new(0, world, None)
    }

    fn new(count: u64, what: &'static str, deadline: Option<Instant>) -> Self {
        let form = if deadline.is_some() || count == 0 {
            "{spinner} {human_pos} {msg}, {elapsed}"
        } else {
            "{wide_bar} {human_pos} of {human_len} {msg}, {elapsed}"
        };
        let style = ProgressStyle::with_template(form);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(count).with_style(style).with_message(what);
        bar.enable_steady_tick(TICK);
        Self { bar, deadline }
    }

    /// So many are done by now.
    pub(crate) fn is_at(&self, count: u64) {
        self.bar.set_position(count);
    }

    /// Takes the bar away.
    pub(crate) fn ends(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Pace {
    fn walked(&self, histories: u64, _: u64) {
        self.bar.inc(histories);
    }

    fn hunted(&self) {
        self.bar.inc(1);
    }

    fn goes_on(&self) -> bool {
        self.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }
}

const TICK: Duration = Duration::from_millis(100);
