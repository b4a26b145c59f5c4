//! A failing run with everything taken out that its failure does not need.
//!
//! Rolls are addressed, so that whatever is taken out leaves the rest as it was.

use crate::{
    history::Family,
    setup::{Deed, Form, Planned, Setup},
};

/// Takes out of a run what `breaks` does not need: faults, deeds, processes, endpoints, events. Gives
/// what `breaks` found in what is left; `None` if it finds nothing in the run as it is.
pub fn shrink<T>(setup: &Setup, breaks: impl Fn(&Setup) -> Option<T>) -> Option<T> {
    let found = breaks(setup)?;
    let mut rest = Rest { setup: setup.clone(), found, breaks };
    for _ in 0..ROUNDS_MAX {
        if !rest.smaller() {
            break;
        }
    }
    Some(rest.found)
}

struct Rest<T, B> {
    setup: Setup,
    found: T,
    breaks: B,
}

impl<T, B: Fn(&Setup) -> Option<T>> Rest<T, B> {
    /// Takes out what can be taken out one by one. Whether anything could.
    fn smaller(&mut self) -> bool {
        let mut any = false;
        for family in Family::ALL.into_iter().filter(|family| *family != Family::OutOfOrder) {
            any |= self.setup.odds.of(family) > 0 && self.without(|s| s.odds.set(family, 0));
        }
        for deed in (0..self.setup.deeds.len()).rev() {
            any |= self.without(|s| {
                s.deeds.remove(deed);
            });
        }
        any |= self.setup.workers > 1 && self.without(|s| s.workers = 1);
        any |= self.setup.ingresses > 1 && self.without(|s| s.ingresses = 1);
        any |= self.setup.relays > 1 && self.without(|s| s.relays = 1);
        let named = self.setup.deeds.iter().any(|(_, deed)| names_an_endpoint(*deed));
        any |= self.setup.endpoints > 1 && !named && self.without(|s| s.endpoints = 1);
        for event in (0..self.setup.events.len()).rev() {
            any |= self.setup.events.len() > 1
                && self.without(|s| {
                    s.events.remove(event);
                });
        }
        for event in 0..self.setup.events.len() {
            let plain =
                Planned { form: Form::Plain, poison: 0, calls: 1, ..self.setup.events[event] };
            any |= self.setup.events[event] != plain && self.without(|s| s.events[event] = plain);
        }
        any
    }

    /// Keeps a change if what is left still breaks.
    fn without(&mut self, change: impl FnOnce(&mut Setup)) -> bool {
        let mut smaller = self.setup.clone();
        change(&mut smaller);
        let Some(found) = (self.breaks)(&smaller) else { return false };
        (self.setup, self.found) = (smaller, found);
        true
    }
}

fn names_an_endpoint(deed: Deed) -> bool {
    matches!(
        deed,
        Deed::Endpoint { .. }
            | Deed::ChangeEndpoint { .. }
            | Deed::RegisterAgain { .. }
            | Deed::EndpointDown { .. }
            | Deed::Rotate { .. }
            | Deed::Revoke { .. }
            | Deed::Target { .. }
    )
}

/// What was needed at first may not be once something else is gone; more rounds find little.
const ROUNDS_MAX: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::swarm::draw;

    #[test]
    fn only_what_is_needed_stays() {
        let full =
            (0..100).map(draw).find(|s| s.odds.of(Family::DropRequest) > 0 && s.events.len() > 3);
        let full = full.unwrap();
        let needs = |s: &Setup| (s.odds.of(Family::DropRequest) > 0).then(|| s.clone());
        let left = shrink(&full, needs).unwrap();
        let on = Family::ALL.into_iter().filter(|family| left.odds.of(*family) > 0);
        assert_eq!(on.collect::<Vec<_>>(), [Family::DropRequest]);
        assert_eq!((left.events.len(), left.deeds.len(), left.endpoints), (1, 0, 1));
    }

    #[test]
    fn a_run_that_breaks_nothing_is_no_failure() {
        assert_eq!(shrink(&draw(0), |_| None::<()>), None);
    }
}
