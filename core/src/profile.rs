//! The choices on which good systems differ, as values.

use crate::{
    ladder::Ladder,
    time::{DAY, HOUR, MINUTE, SECOND},
};

/// How a sender behaves: a named set of choices. Every number has its default from the contract.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The name under which the choices are published.
    pub name: &'static str,
    /// The waits between attempts.
    pub ladder: Ladder,
    /// One total deadline over connect, send, wait and read (S7).
    pub time_limit_ms: u64,
    /// How long after its claim a worker may still start the request (S5).
    pub start_limit_ms: u64,
    /// The longest wait that a `Retry-After` may ask for (S6).
    pub retry_after_max_ms: u64,
    /// What the answer 410 does (S6).
    pub on_gone: OnGone,
    /// What a used-up cycle does to the endpoint (S6).
    pub on_exhausted: OnExhausted,
    /// How long after its creation a delivery can be resent (S11).
    pub resend_window_ms: u64,
    /// At most this many attempts in flight to one endpoint (S14).
    pub slots: u16,
    /// At least this long, on average, between two attempts to one endpoint (S14); 0: no rate.
    pub interval_ms: u64,
    /// How many attempts to one endpoint may start at once before `interval_ms` bites.
    pub burst: u16,
}

/// What the answer 410 Gone does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnGone {
    /// A failure like any other: the delivery climbs on.
    Climb,
    /// This delivery has failed; the endpoint stays.
    Fail,
    /// This delivery has failed and the endpoint is disabled.
    Disable,
}

/// What a used-up cycle does to the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnExhausted {
    /// The endpoint stays active and subscribed.
    Keep,
    /// The endpoint is disabled until a person enables it.
    Disable,
}

impl Profile {
    /// The choices of the contract where a provider prescribes none.
    pub const fn hookproof() -> Self {
        Self {
            name: "hookproof",
            ladder: Ladder::paymos(),
            time_limit_ms: 10 * SECOND,
            start_limit_ms: 5 * SECOND,
            retry_after_max_ms: DAY,
            on_gone: OnGone::Climb,
            on_exhausted: OnExhausted::Keep,
            resend_window_ms: 30 * DAY,
            slots: 4,
            interval_ms: 0,
            burst: 1,
        }
    }

    /// Paymos: its published ladder (16 h 03 min); the other numbers are defaults of ours.
    pub fn paymos() -> Self {
        Self { name: "paymos", ..Self::hookproof() }
    }

    /// Standard Webhooks: its example schedule, 15 s, 410 disables, a used-up cycle disables.
    pub fn standard_webhooks() -> Self {
        Self {
            name: "standard-webhooks",
            ladder: Ladder::standard_webhooks(),
            time_limit_ms: 15 * SECOND,
            on_gone: OnGone::Disable,
            on_exhausted: OnExhausted::Disable,
            ..Self::hookproof()
        }
    }

    /// The longest that a claim keeps its slot: the request starts and ends within it.
    pub const fn lease_ms(&self) -> u64 {
        self.start_limit_ms.saturating_add(self.time_limit_ms)
    }

    /// The longest that a delivery of this profile ever waits for its next look. One that waits longer has
    /// seen its clock set back.
    pub fn wait_max_ms(&self) -> u64 {
        self.lease_ms().max(self.retry_after_max_ms).max(self.ladder.wait_max_ms())
    }

    /// From the start of a cycle to its last possible start, while the sender is up and the
    /// endpoint active: waits with jitter, and for each attempt its limit and a clamped `Retry-After`.
    pub fn horizon_ms(&self) -> u64 {
        let attempt = self.lease_ms().saturating_add(self.retry_after_max_ms);
        let attempts = attempt.saturating_mul(u64::from(self.ladder.attempts()));
        self.ladder.longest().saturating_add(attempts)
    }
}

/// How a receiver works through its inbox.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InboxPolicy {
    /// The waits between tries of a failing event (R10).
    pub ladder: Ladder,
    /// How long a worker may take over one event before another may take over.
    pub work_limit_ms: u64,
    /// How long a deferred event sleeps when nothing wakes it (R9).
    pub defer_timer_ms: u64,
    /// How long an event may be deferred in all before it becomes a dead letter (R9).
    pub defer_cap_ms: u64,
    /// How long the worker waits after a fault of the infrastructure, which climbs nothing (R10).
    pub pause_ms: u64,
    /// How long the keys of finished receipts are kept (R16); `None`: for ever.
    pub retention_ms: Option<u64>,
}

impl InboxPolicy {
    /// The defaults of the contract.
    pub const fn hookproof() -> Self {
        Self {
            ladder: Ladder::inbox_default(),
            work_limit_ms: 30 * SECOND,
            defer_timer_ms: 5 * MINUTE,
            defer_cap_ms: DAY,
            pause_ms: SECOND,
            retention_ms: None,
        }
    }
}

impl InboxPolicy {
    /// The longest that a receipt ever waits for its next look. One that waits longer has seen its clock
    /// set back.
    pub fn wait_max_ms(&self) -> u64 {
        let waits = [self.work_limit_ms, self.defer_timer_ms, self.pause_ms];
        waits.into_iter().fold(self.ladder.wait_max_ms(), u64::max)
    }
}

/// A retention that forgets keys while their deliveries may still arrive (R16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionTooShort {
    /// What was asked for.
    pub asked_ms: u64,
    /// The least that is safe: [`retention_min_ms`].
    pub least_ms: u64,
}

impl core::fmt::Display for RetentionTooShort {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "keys kept for {} h are forgotten before the sender's last attempt; keep them for at \
             least {} h, or for ever",
            self.asked_ms / HOUR,
            self.least_ms.div_ceil(HOUR)
        )
    }
}

impl core::error::Error for RetentionTooShort {}

/// How long keys must be kept for a sender of this profile: a resend may open a whole new cycle on
/// the last day of its window, and both clocks may be off by `skew_ms`.
pub fn retention_min_ms(sender: &Profile, skew_ms: u64) -> u64 {
    let window = sender.horizon_ms().saturating_add(sender.resend_window_ms);
    window.saturating_add(skew_ms.saturating_mul(2))
}

/// Refuses a retention below [`retention_min_ms`].
pub fn check_retention(
    policy: &InboxPolicy,
    sender: &Profile,
    skew_ms: u64,
) -> Result<(), RetentionTooShort> {
    let least_ms = retention_min_ms(sender, skew_ms);
    match policy.retention_ms {
        Some(asked_ms) if asked_ms < least_ms => Err(RetentionTooShort { asked_ms, least_ms }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(retention_ms: Option<u64>) -> InboxPolicy {
        InboxPolicy { retention_ms, ..InboxPolicy::hookproof() }
    }

    #[test]
    fn the_default_is_what_the_contract_says() {
        let profile = Profile::hookproof();
        assert_eq!(profile.ladder, Ladder::paymos());
        assert_eq!((profile.time_limit_ms, profile.retry_after_max_ms), (10_000, 86_400_000));
        assert_eq!(profile.resend_window_ms, 30 * 86_400_000);
        assert_eq!((profile.on_gone, profile.on_exhausted), (OnGone::Climb, OnExhausted::Keep));
        let inbox = InboxPolicy::hookproof();
        assert_eq!((inbox.defer_timer_ms, inbox.defer_cap_ms), (300_000, 86_400_000));
        assert_eq!(inbox.retention_ms, None);
        assert_eq!(inbox.ladder, Ladder::inbox_default());
    }

    #[test]
    fn a_named_profile_differs_only_where_its_provider_says_so() {
        assert_eq!(Profile::paymos(), Profile { name: "paymos", ..Profile::hookproof() });
        let standard = Profile {
            name: "standard-webhooks",
            ladder: Ladder::standard_webhooks(),
            time_limit_ms: 15_000,
            on_gone: OnGone::Disable,
            on_exhausted: OnExhausted::Disable,
            ..Profile::hookproof()
        };
        assert_eq!(Profile::standard_webhooks(), standard);
    }

    #[test]
    fn the_horizon_has_room_for_each_wait_each_limit_and_each_retry_after() {
        let ladder = Ladder::new(alloc::vec![1_000, 2_000]).expect("short");
        let profile = Profile { ladder, retry_after_max_ms: 500, ..Profile::hookproof() };
        assert_eq!(profile.lease_ms(), 15_000);
        assert_eq!(profile.horizon_ms(), 1_050 + 2_100 + 3 * (15_000 + 500));
        let least = profile.horizon_ms() + 30 * DAY + 2 * MINUTE;
        assert_eq!(retention_min_ms(&profile, MINUTE), least);
    }

    #[test]
    fn nothing_waits_longer_than_its_longest_wait() {
        let ladder = Ladder::new(alloc::vec![1_000, 400_000]).expect("short");
        let profile =
            Profile { ladder: ladder.clone(), retry_after_max_ms: 5, ..Profile::hookproof() };
        assert_eq!(profile.wait_max_ms(), 420_000);
        assert_eq!(Profile::hookproof().wait_max_ms(), DAY);
        let policy = InboxPolicy { ladder, ..keep(None) };
        assert_eq!(policy.wait_max_ms(), 420_000);
        assert_eq!(InboxPolicy { defer_timer_ms: DAY, ..policy }.wait_max_ms(), DAY);
    }

    #[test]
    fn no_clamp_at_all_leaves_no_retention_but_for_ever() {
        let patient = Profile { retry_after_max_ms: u64::MAX, ..Profile::hookproof() };
        assert_eq!(retention_min_ms(&patient, u64::MAX), u64::MAX);
        assert!(check_retention(&keep(Some(u64::MAX - 1)), &patient, 0).is_err());
        assert_eq!(check_retention(&keep(None), &patient, 0), Ok(()));
    }

    #[test]
    fn a_retention_that_is_too_short_says_what_would_do() {
        let short = RetentionTooShort { asked_ms: 2 * HOUR, least_ms: 3 * HOUR + 1 };
        let words = alloc::format!("{short}");
        assert!(words.contains("for 2 h") && words.contains("least 4 h"), "{words}");
    }

    #[test]
    fn keys_outlive_the_last_attempt_of_a_late_resend() {
        let sender = Profile::paymos();
        let least = retention_min_ms(&sender, MINUTE);
        assert!(least > sender.resend_window_ms + sender.ladder.longest());
        assert_eq!(check_retention(&keep(Some(least)), &sender, MINUTE), Ok(()));
        assert_eq!(check_retention(&keep(None), &sender, MINUTE), Ok(()));
        let short = check_retention(&keep(Some(least - 1)), &sender, MINUTE).expect_err("short");
        assert_eq!(short, RetentionTooShort { asked_ms: least - 1, least_ms: least });
    }
}
