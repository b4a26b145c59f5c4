//! The declared numbers of both sides in files.

use hookproof_core::{
    ladder::Ladder,
    profile::{InboxPolicy, OnExhausted, OnGone, Profile},
    time::DAY,
};
use serde::{Deserialize, Serialize};

use super::{BadScenario, file::bad};
use crate::oracle::Scheme;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileOf {
    ladder_ms: Vec<u64>,
    time_limit_ms: u64,
    start_limit_ms: u64,
    retry_after_max_ms: u64,
    on_gone: Gone,
    on_exhausted: Exhausted,
    resend_window_ms: u64,
    slots: u16,
    interval_ms: u64,
    burst: u16,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Gone {
    Climb,
    Fail,
    Disable,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Exhausted {
    Keep,
    Disable,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "every number has its unit")]
pub(crate) struct InboxOf {
    ladder_ms: Vec<u64>,
    work_limit_ms: u64,
    defer_timer_ms: u64,
    defer_cap_ms: u64,
    pause_ms: u64,
    retention_ms: Option<u64>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "those of `Scheme`")]
pub(crate) struct SchemeOf {
    lists: bool,
    strangers: bool,
    covers_header: bool,
    overlap_ms: u64,
    notice_ms: u64,
    tolerance_ms: u64,
    wants_200: bool,
    greets: bool,
}

pub(crate) fn within(name: &str, number: u64, least: u64, most: u64) -> Result<(), BadScenario> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    bad(format!("{name}: {number}: expected {least} to {most}"))
}

pub(crate) fn span(name: &str, ms: u64) -> Result<u64, BadScenario> {
    within(name, ms, 0, SPAN_MAX_MS).map(|()| ms)
}

fn ladder(whose: &str, waits_ms: Vec<u64>) -> Result<Ladder, BadScenario> {
    Ladder::new(waits_ms).map_err(|why| BadScenario(format!("{whose}.ladder_ms: {why}")))
}

impl ProfileOf {
    pub(crate) fn of(profile: &Profile) -> Self {
        Self {
            ladder_ms: profile.ladder.waits_ms().to_vec(),
            time_limit_ms: profile.time_limit_ms,
            start_limit_ms: profile.start_limit_ms,
            retry_after_max_ms: profile.retry_after_max_ms,
            on_gone: match profile.on_gone {
                OnGone::Climb => Gone::Climb,
                OnGone::Fail => Gone::Fail,
                OnGone::Disable => Gone::Disable,
            },
            on_exhausted: match profile.on_exhausted {
                OnExhausted::Keep => Exhausted::Keep,
                OnExhausted::Disable => Exhausted::Disable,
            },
            resend_window_ms: profile.resend_window_ms,
            slots: profile.slots,
            interval_ms: profile.interval_ms,
            burst: profile.burst,
        }
    }

    pub(crate) fn profile(self) -> Result<Profile, BadScenario> {
        within("profile.slots", u64::from(self.slots), 1, u64::from(u16::MAX))?;
        within("profile.burst", u64::from(self.burst), 1, u64::from(u16::MAX))?;
        within("profile.time_limit_ms", self.time_limit_ms, LIMIT_MIN_MS, DAY)?;
        Ok(Profile {
            name: "scenario",
            ladder: ladder("profile", self.ladder_ms)?,
            time_limit_ms: self.time_limit_ms,
            start_limit_ms: span("profile.start_limit_ms", self.start_limit_ms)?,
            retry_after_max_ms: span("profile.retry_after_max_ms", self.retry_after_max_ms)?,
            on_gone: match self.on_gone {
                Gone::Climb => OnGone::Climb,
                Gone::Fail => OnGone::Fail,
                Gone::Disable => OnGone::Disable,
            },
            on_exhausted: match self.on_exhausted {
                Exhausted::Keep => OnExhausted::Keep,
                Exhausted::Disable => OnExhausted::Disable,
            },
            resend_window_ms: span("profile.resend_window_ms", self.resend_window_ms)?,
            slots: self.slots,
            interval_ms: span("profile.interval_ms", self.interval_ms)?,
            burst: self.burst,
        })
    }
}

impl SchemeOf {
    pub(crate) fn of(scheme: Scheme) -> Self {
        let Scheme { lists, strangers, covers_header, overlap_ms, notice_ms, .. } = scheme;
        let Scheme { tolerance_ms, wants_200, greets, .. } = scheme;
        Self {
            lists,
            strangers,
            covers_header,
            overlap_ms,
            notice_ms,
            tolerance_ms,
            wants_200,
            greets,
        }
    }

    pub(crate) fn scheme(self) -> Result<Scheme, BadScenario> {
        let Self { lists, strangers, covers_header, wants_200, greets, .. } = self;
        Ok(Scheme {
            lists,
            strangers,
            covers_header,
            overlap_ms: span("scheme.overlap_ms", self.overlap_ms)?,
            notice_ms: span("scheme.notice_ms", self.notice_ms)?,
            tolerance_ms: span("scheme.tolerance_ms", self.tolerance_ms)?,
            wants_200,
            greets,
        })
    }
}

impl InboxOf {
    pub(crate) fn of(inbox: &InboxPolicy) -> Self {
        Self {
            ladder_ms: inbox.ladder.waits_ms().to_vec(),
            work_limit_ms: inbox.work_limit_ms,
            defer_timer_ms: inbox.defer_timer_ms,
            defer_cap_ms: inbox.defer_cap_ms,
            pause_ms: inbox.pause_ms,
            retention_ms: inbox.retention_ms,
        }
    }

    pub(crate) fn inbox(self) -> Result<InboxPolicy, BadScenario> {
        let retention_ms = self.retention_ms.map(|ms| span("inbox.retention_ms", ms));
        Ok(InboxPolicy {
            ladder: ladder("inbox", self.ladder_ms)?,
            work_limit_ms: span("inbox.work_limit_ms", self.work_limit_ms)?,
            defer_timer_ms: span("inbox.defer_timer_ms", self.defer_timer_ms)?,
            defer_cap_ms: span("inbox.defer_cap_ms", self.defer_cap_ms)?,
            pause_ms: span("inbox.pause_ms", self.pause_ms)?,
            retention_ms: retention_ms.transpose()?,
        })
    }
}

/// The longest span and the latest instant.
const SPAN_MAX_MS: u64 = 400 * DAY;
/// The shortest time limit: answers need some time.
const LIMIT_MIN_MS: u64 = 2_000;
