//! Whom runs are about.

use hookproof_core::model::{EventType, Model};

use crate::models::{self, ModelNo};

/// Whom runs are about.
#[derive(Clone, Copy, Debug)]
pub enum Cast<'a> {
    /// Entities of the types of [`models`].
    BuiltIn,
    /// Entities of one type.
    Own {
        /// The type.
        model: &'a Model,
        /// What can happen to an entity, in the order in which it happens; one story at least.
        stories: &'a [Vec<EventType>],
        /// How many callbacks are registered, all for the same receiver.
        endpoints: u32,
    },
}

impl<'a> Cast<'a> {
    pub(super) fn types(self) -> u64 {
        match self {
            Self::BuiltIn => models::COUNT,
            Self::Own { .. } => 1,
        }
    }

    pub(super) fn models(self) -> Vec<Model> {
        match self {
            Self::BuiltIn => models::all(),
            Self::Own { model, .. } => vec![model.clone()],
        }
    }

    pub(super) fn story(self, model: u8, pick: impl FnOnce(u64) -> u64) -> &'a [EventType] {
        match self {
            Self::BuiltIn => {
                let stories = models::stories(ModelNo(model));
                stories[pick(stories.len() as u64) as usize]
            }
            Self::Own { stories, .. } => &stories[pick(stories.len() as u64) as usize],
        }
    }
}
