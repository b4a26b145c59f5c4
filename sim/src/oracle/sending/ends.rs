//! What is owed when nothing more will happen: S2, S11, S12.

use super::{
    super::Breach,
    Sending,
    rows::{Delivery, Event, Row},
};

/// A delivery as its lines leave it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sent {
    pub(in super::super) row: Row,
    pub(in super::super) id: u32,
    /// Whether a restore left open where it stands.
    pub(in super::super) adrift: bool,
    /// Whether its endpoint takes nothing until a person says so.
    pub(in super::super) waits: bool,
    /// Whether something else than its receiver acknowledged it.
    pub(in super::super) foreign: bool,
}

impl Sending {
    /// Judges what is owed when nothing more will happen. What a restore left adrift is not owed.
    pub(in super::super) fn end(&self) -> Result<(), Breach> {
        for (no, event) in self.events.iter().enumerate() {
            was_fanned_out(no, event)?;
        }
        for (no, delivery) in self.deliveries.iter().enumerate() {
            if delivery.row.is_open() && !delivery.adrift && !self.waits_for_person(delivery) {
                is_not_stuck(no, delivery, self.stood)?;
            }
        }
        Ok(())
    }

    /// How many deliveries there are, by the highest number.
    pub(in super::super) fn deliveries(&self) -> usize {
        self.deliveries.len()
    }

    /// The delivery with this number, if it was ever made.
    pub(in super::super) fn sent(&self, no: usize) -> Option<Sent> {
        let delivery = self.deliveries.get(no).filter(|delivery| delivery.row.exists())?;
        let Delivery { row, id, adrift, foreign, .. } = *delivery;
        Some(Sent { row, id, adrift, waits: self.waits_for_person(delivery), foreign })
    }

    /// Whether its endpoint takes nothing until a person says so: it waits, and is not stuck.
    fn waits_for_person(&self, delivery: &Delivery) -> bool {
        let endpoint = self.endpoints.get(delivery.endpoint as usize);
        endpoint.is_some_and(|endpoint| endpoint.life.waits() || endpoint.adrift)
    }
}

/// An event that nobody ever fanned out is lost; one that was fanned out in part is not.
fn was_fanned_out(no: usize, event: &Event) -> Result<(), Breach> {
    if !event.committed || event.fanned || event.adrift {
        return Ok(());
    }
    hold!(event.got == 0, S12, "the fan-out of event {no} was never completed");
    hold!(event.owed != 0, S12, "event {no} has no endpoint, and was not closed as such");
    breaks!(S2, "event {no} committed, and was never fanned out")
}

/// A delivery that was never attempted, and whose row is not there when others are, was never made.
fn is_not_stuck(no: usize, delivery: &Delivery, others_stood: bool) -> Result<(), Breach> {
    hold!(!delivery.is_swallowed(), S11, "delivery {no} was resent, and never attempted again");
    let made = delivery.stood || !others_stood || delivery.attempt > 0;
    hold!(made, S12, "delivery {no} has no row, and its fan-out says that it has");
    breaks!(
        S2,
        "delivery {no} is neither acknowledged nor used up nor cancelled after attempt {}",
        delivery.attempt
    )
}
