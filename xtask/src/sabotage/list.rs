//! What is left out, one place at a time, as data.
//!
//! `wrong!("name")` is whether this line is the wrong one, `unguarded!("name", write)` the write without
//! its guard. Neither is Rust before the copy is made.

use super::store::STORE;

/// A place: `from` stands in the file once, and `to` is the same with its switches.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    pub(super) file: &'static str,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
}

/// All of them.
pub(super) fn patches() -> Vec<Patch> {
    [DECISIONS, STORE].concat()
}

const DECISIONS: &[Patch] = &[
    // The outbox: claims.
    Patch {
        file: OUTBOX,
        from: "Stand::Claimed { lease, .. } => lease > now,",
        to: r#"Stand::Claimed { lease, .. } => lease > now || wrong!("the slot of a dead worker is never freed"),"#,
    },
    Patch {
        file: OUTBOX,
        from: "vec![lane.endpoint.hold(), self.put(row)], Claim::Cancelled",
        to: r#"vec![
            unguarded!("a cancelling claim without its HoldEndpoint", lane.endpoint.hold()),
            unguarded!("a cancelling claim without the guard of its delivery", self.put(row)),
        ], Claim::Cancelled"#,
    },
    Patch {
        file: OUTBOX,
        from: "let lost = matches!(self.stand, Stand::Claimed { .. });",
        to: r#"let lost = matches!(self.stand, Stand::Claimed { .. }) && !wrong!("a last claim that was lost is shown as an answer");"#,
    },
    Patch {
        file: OUTBOX,
        from: "used_up(&lane.endpoint, profile).unwrap_or(lane.endpoint.hold());",
        to: r#"used_up(&lane.endpoint, profile).filter(|_| !wrong!("a used-up claim leaves its endpoint on"));
                let held = unguarded!("a used-up claim without its HoldEndpoint", lane.endpoint.hold());
                let endpoint = unguarded!("a used-up claim without the guard of its endpoint", endpoint.unwrap_or(held));"#,
    },
    Patch {
        file: OUTBOX,
        from: "vec![lane.endpoint.put(endpoint), self.put(row)]",
        to: r#"vec![
            unguarded!("a claim without the guard of its endpoint", lane.endpoint.put(endpoint)),
            unguarded!("a claim without the guard of its delivery", self.put(row)),
        ]"#,
    },
    Patch {
        file: OUTBOX,
        from: "let stand = Stand::Claimed { wake: wake.max(lease), lease, hurried: false };",
        to: r#"let wake = if wrong!("a claim that can be taken over before its lease is over") { wake } else { wake.max(lease) };
        let wake = if wrong!("a claim that schedules no retry") { lease } else { wake };
        let stand = Stand::Claimed { wake, lease, hurried: false };"#,
    },
    Patch {
        file: OUTBOX,
        from: "Self { attempt, rung, fence: self.fence.wrapping_add(1), ..row }",
        to: r#"let step = u32::from(!wrong!("a claim of a delivery without a new fence"));
        Self { attempt, rung, fence: self.fence.wrapping_add(step), ..row }"#,
    },
    // The outbox: what people ask for.
    Patch {
        file: OUTBOX,
        from: "if now.since(self.created) > profile.resend_window_ms {",
        to: r#"if now.since(self.created) > profile.resend_window_ms && !wrong!("a resend after its window") {"#,
    },
    Patch {
        file: OUTBOX,
        from: "if endpoint.life != Life::Active {",
        to: r#"if endpoint.life != Life::Active && !wrong!("a resend to an endpoint that takes nothing") {"#,
    },
    Patch {
        file: OUTBOX,
        from: "if self.wake().is_some() && self.is_used_up(profile) {",
        to: r#"if self.wake().is_some() && self.is_used_up(profile) && !wrong!("a resend of a last attempt under way") {"#,
    },
    Patch {
        file: OUTBOX,
        from: "(self.next(Stand::Pending { wake: wake.min(now) }), Resent::PulledForward)",
        to: r#"let at = if wrong!("a resend that leaves a pending wake where it is") { wake } else { wake.min(now) };
                (self.next(Stand::Pending { wake: at }), Resent::PulledForward)"#,
    },
    Patch {
        file: OUTBOX,
        from: "let stand = Stand::Claimed { wake: wake.min(lease), lease, hurried: true };",
        to: r#"let at = if wrong!("a hurried claim that is not due at the end of its lease") { wake } else { wake.min(lease) };
                let stand = Stand::Claimed { wake: at, lease, hurried: true };"#,
    },
    Patch {
        file: OUTBOX,
        from: "vec![endpoint.hold(), self.put(row), audit]",
        to: r#"vec![
            unguarded!("a resend without its HoldEndpoint", endpoint.hold()),
            unguarded!("a resend without the guard of its delivery", self.put(row)),
            if wrong!("a resend without its audit line") { endpoint.hold() } else { audit },
        ]"#,
    },
    Patch {
        file: OUTBOX,
        from: "vec![self.put(self.next(Stand::Cancelled(reason)))]",
        to: r#"vec![unguarded!("a cancellation without the guard of its delivery", self.put(self.next(Stand::Cancelled(reason))))]"#,
    },
    // The outbox: how a request ended.
    Patch {
        file: OUTBOX,
        from: "writes.extend([self.put(self.next(Stand::Failed(reason))), alert]);",
        to: r#"let put = unguarded!("a failure without the guard of its delivery", self.put(self.next(Stand::Failed(reason))));
        writes.push(put);
        if !wrong!("a failure without its alert") {
            writes.push(alert);
        }"#,
    },
    Patch {
        file: OUTBOX,
        from: "Self { rev: self.rev.wrapping_add(1), stand, ..*self }",
        to: r#"Self { rev: self.rev.wrapping_add(u32::from(!wrong!("a delivery without a new revision"))), stand, ..*self }"#,
    },
    Patch {
        file: OUTBOX,
        from: "matches!(self.stand, Stand::Claimed { .. })
            && (self.id, self.fence) == (ticket.delivery, ticket.fence)",
        to: r#"(matches!(self.stand, Stand::Claimed { .. }) || wrong!("a claim of a delivery that is over is held"))
            && (self.id == ticket.delivery)
            && (self.fence == ticket.fence || wrong!("any claim of a delivery is held by whoever had one"))"#,
    },
    Patch {
        file: OUTBOX,
        from: "OnExhausted::Disable => Some(endpoint.disable()),",
        to: r#"OnExhausted::Disable => {
            (!wrong!("a used-up cycle leaves its endpoint on")).then(|| unguarded!("a used-up cycle without the guard of its endpoint", endpoint.disable()))
        }"#,
    },
    Patch {
        file: OUTBOX,
        from: "if elapsed_ms > profile.start_limit_ms {",
        to: r#"if elapsed_ms > profile.start_limit_ms && !wrong!("a request that starts after the start limit") {"#,
    },
    Patch {
        file: OUTBOX,
        from: "if !row.is_held_by(self.0) {
            return None;
        }
        let next = row.next(Stand::Pending { wake: now });",
        to: r#"if !row.is_held_by(self.0) && !(wrong!("a release without its fence") && row.attempt > 0 && row.rung > 0) {
            return None;
        }
        let wake = if wrong!("a release that keeps the wake of its claim") { row.wake().unwrap_or(now) } else { now };
        let next = row.next(Stand::Pending { wake });"#,
    },
    Patch {
        file: OUTBOX,
        from: "Some(Plan::new(vec![row.put(next)], ()))",
        to: r#"Some(Plan::new(vec![unguarded!("a release without the guard of its delivery", row.put(next))], ()))"#,
    },
    Patch {
        file: OUTBOX,
        from: "if !row.is_held_by(self.0) {
            return None;
        }
        let retry_after_ms",
        to: r#"if !row.is_held_by(self.0) && !wrong!("a settle without its fence") {
            return None;
        }
        let retry_after_ms"#,
    },
    Patch {
        file: OUTBOX,
        from: "return Some(row.ended(Reason::Gone, Some(endpoint.disable())));",
        to: r#"let disabled = unguarded!("a 410 without the guard of its endpoint", endpoint.disable());
                let disabled = Some(disabled).filter(|_| !wrong!("a 410 leaves its endpoint on"));
                return Some(row.ended(Reason::Gone, disabled));"#,
    },
    Patch {
        file: OUTBOX,
        from: "let wake = if hurried { now } else { now + wait };",
        to: r#"let wake = if hurried && !wrong!("a hurried delivery waits all the same") { now } else { now + wait };"#,
    },
    Patch {
        file: OUTBOX,
        from: "Plan::new(vec![self.put(self.next(stand))], stand)",
        to: r#"Plan::new(vec![unguarded!("a settle without the guard of its delivery", self.put(self.next(stand)))], stand)"#,
    },
    // Events.
    Patch {
        file: EVENT,
        from: "created: now, wake: Some(now), processed: None };
            Plan::new(vec![Write::Event(Put { was: None, row })], Published::Accepted)",
        to: r#"created: now, wake: (!wrong!("a published event that wakes nobody")).then_some(now), processed: None };
            Plan::new(vec![unguarded!("a publish without its unique key", Write::Event(Put { was: None, row }))], Published::Accepted)"#,
    },
    Patch {
        file: EVENT,
        from: "Some(event) if event.digest == digest => Plan::new(vec![], Published::Duplicate),",
        to: r#"Some(event) if event.digest == digest || wrong!("a key that is reused is a duplicate") => {
            Plan::new(vec![], Published::Duplicate)
        }"#,
    },
    Patch {
        file: EVENT,
        from: "let row = Self { rev: self.rev.wrapping_add(1), wake: None, processed, ..*self };
        writes.insert(0, Write::Event(Put { was: Some(self.rev), row }));",
        to: r#"let step = u32::from(!wrong!("a fan-out without a new revision"));
        let wake = self.wake.filter(|_| wrong!("a fan-out that leaves its event due"));
        let row = Self { rev: self.rev.wrapping_add(step), wake, processed, ..*self };
        writes.insert(0, unguarded!("a fan-out without the guard of its event", Write::Event(Put { was: Some(self.rev), row })));"#,
    },
    Patch {
        file: EVENT,
        from: "Write::Delivery(Put { was: None, row })",
        to: r#"unguarded!("a fan-out without the unique keys of its deliveries", Write::Delivery(Put { was: None, row }))"#,
    },
    Patch {
        file: EVENT,
        from: "let row = Self { rev: self.rev.wrapping_add(1), processed: Some(now), ..*self };
        Some(Plan::new(vec![Write::Event(Put { was: Some(self.rev), row })], ()))",
        to: r#"let step = u32::from(!wrong!("a sweep without a new revision"));
        let row = Self { rev: self.rev.wrapping_add(step), processed: Some(now), ..*self };
        Some(Plan::new(vec![unguarded!("a sweep without the guard of its event", Write::Event(Put { was: Some(self.rev), row }))], ()))"#,
    },
    Patch {
        file: EVENT,
        from: "self.wake.is_some() || self.processed.is_some() || deliveries.is_empty()",
        to: r#"self.wake.is_some() || self.processed.is_some() && !wrong!("a sweep of what is marked already") || deliveries.is_empty()"#,
    },
    Patch {
        file: EVENT,
        from: "let told = deliveries.iter().all(|delivery| delivery.stand == Stand::Acknowledged);",
        to: r#"let told = deliveries.iter().all(|delivery| delivery.stand == Stand::Acknowledged) || wrong!("a sweep that does not look");"#,
    },
    // Endpoints.
    Patch {
        file: ENDPOINT,
        from: "self.left.is_none_or(|left| created <= left)",
        to: r#"self.left.is_none_or(|left| created <= left || wrong!("an endpoint that left is subscribed for ever"))"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Life::Active | Life::Paused | Life::Disabled => None,",
        to: r#"Life::Disabled if wrong!("an endpoint that is disabled has left") => Some(now),
            Life::Active | Life::Paused | Life::Disabled => None,"#,
    },
    Patch {
        file: EVENT,
        from: "let subscribed = endpoints.iter().filter(|(e, _)| e.subscribed_at(self.created));",
        to: r#"let subscribed = endpoints.iter().filter(|(e, _)| {
            e.subscribed_at(self.created) && !(e.life == crate::endpoint::Life::Disabled && wrong!("a fan-out that skips who is disabled"))
        });"#,
    },
    Patch {
        file: ENDPOINT,
        from: "self.left.or(Some(now))",
        to: r#"self.left.filter(|_| !wrong!("a deletion that moves when it left")).or(Some(now))"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Put { was: None, row: Endpoint::registered(id) }",
        to: r#"Put { was: if wrong!("an endpoint registered without its key") { Some(crate::wrong::NEW) } else { None }, row: Endpoint::registered(id) }"#,
    },
    Patch {
        file: EVENT,
        from: "let processed = (made == 0).then_some(now);",
        to: r#"let processed = (made == 0 && !wrong!("an event for nobody that is not closed")).then_some(now);"#,
    },
    Patch {
        file: OUTBOX,
        from: "self.next(Stand::Cancelled(Reason::EndpointGone))",
        to: r#"self.next(Stand::Cancelled(if wrong!("a delivery cancelled for another reason") { Reason::Operator } else { Reason::EndpointGone }))"#,
    },
    Patch {
        file: WORK,
        from: "(Fault::Infrastructure, Stand::Queued { .. }) => Stand::Queued { wake },",
        to: r#"(Fault::Infrastructure, Stand::Queued { .. }) if !wrong!("an outage shown as a retry") => Stand::Queued { wake },"#,
    },
    Patch {
        file: ENDPOINT,
        from: "vec![self.put(Self { life, left, ..self.next_rev() })]",
        to: r#"vec![unguarded!("an endpoint that turns without its guard", self.put(Self { life, left, ..self.next_rev() }))]"#,
    },
    Patch {
        file: ENDPOINT,
        from: "self.put(Self { life: Life::Disabled, ..self.next_rev() })",
        to: r#"if wrong!("an endpoint that is held where it is to be disabled") { return self.hold(); }
                self.put(Self { life: Life::Disabled, ..self.next_rev() })"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Life::Disabled | Life::Unsubscribed | Life::Deleted => self.hold(),",
        to: r#"Life::Disabled | Life::Unsubscribed | Life::Deleted => {
                unguarded!("an endpoint that is off already is not held", self.hold())
            }"#,
    },
    Patch {
        file: ENDPOINT,
        from: "(self.life != Life::Deleted).then(|| Plan::new(vec![self.put(self.next_rev())], ()))",
        to: r#"let row = if wrong!("an endpoint that changes without a new revision") { *self } else { self.next_rev() };
        let put = unguarded!("an endpoint that changes without its guard", self.put(row));
        (self.life != Life::Deleted).then(|| Plan::new(vec![put], ()))"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Life::Paused | Life::Disabled => Admission::Shut,",
        to: r#"Life::Paused if wrong!("a lane that is open while it is paused") => self.pace(now, profile),
            Life::Disabled if wrong!("a lane that is open while it is disabled") => self.pace(now, profile),
            Life::Paused | Life::Disabled => Admission::Shut,"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Self { rev: self.rev.wrapping_add(1), ..self }",
        to: r#"Self { rev: self.rev.wrapping_add(u32::from(!wrong!("an endpoint without a new revision"))), ..self }"#,
    },
    Patch {
        file: ENDPOINT,
        from: "Life::Active if self.in_flight >= profile.slots => Admission::Shut,",
        to: r#"Life::Active if self.in_flight >= profile.slots && !wrong!("a lane without slots") => Admission::Shut,"#,
    },
    Patch {
        file: ENDPOINT,
        from: "let next = if astray { now } else { self.endpoint.next.max(now) };
        if next > latest {",
        to: r#"let next = if astray { now } else { self.endpoint.next.max(now) };
        let over = if wrong!("a pace that admits one above the burst") { profile.interval_ms } else { 0 };
        if next > latest + over && !wrong!("a lane without a pace") {"#,
    },
    // The receiver's door.
    Patch {
        file: INBOX,
        from: "Reading::Proposal(proposal) => (Some(proposal), Stand::Queued { wake: now }),",
        to: r#"Reading::Proposal(proposal) => {
            let wake = if wrong!("a receipt that wakes nobody") { Millis(u64::MAX) } else { now };
            (Some(proposal), Stand::Queued { wake })
        }"#,
    },
    Patch {
        file: INBOX,
        from: "let mut writes = vec![Write::Receipt(Put { was: None, row })];",
        to: r#"let mut writes = vec![unguarded!("a receipt without its unique key", Write::Receipt(Put { was: None, row }))];"#,
    },
    Patch {
        file: INBOX,
        from: "if let Stand::InReview(reason) = stand {",
        to: r#"if let Stand::InReview(reason) = stand && !wrong!("an unreadable receipt without its alert") {"#,
    },
    Patch {
        file: INBOX,
        from: "if !warrant.person_allowed {",
        to: r#"if !warrant.person_allowed && !wrong!("a replay by a person who may not") {"#,
    },
    Patch {
        file: INBOX,
        from: "if !warrant.source_authorised {",
        to: r#"if !warrant.source_authorised && !wrong!("a replay for a source that may not") {"#,
    },
    Patch {
        file: INBOX,
        from: "if !warrant.secret_unrevoked {",
        to: r#"if !warrant.secret_unrevoked && !wrong!("a replay under a revoked secret") {"#,
    },
    Patch {
        file: INBOX,
        from: "if self.wake().is_some() {
            return Err(NotReplayed::Waiting);",
        to: r#"if self.wake().is_some() && !wrong!("a replay of what waits for work") {
            return Err(NotReplayed::Waiting);"#,
    },
    Patch {
        file: INBOX,
        from: "let fence = self.fence.wrapping_add(1);
        let row = Self { strikes: 0, fence, cap, ..self.next(Stand::Queued { wake: now }) };",
        to: r#"let fence = self.fence.wrapping_add(u32::from(!wrong!("a replay without a new fence")));
        let wake = if wrong!("a replay that wakes nobody") { Millis(u64::MAX) } else { now };
        let cap = if wrong!("a replay that keeps the cap") { self.cap } else { cap };
        let strikes = if wrong!("a replay that keeps the strikes") { self.strikes } else { 0 };
        let row = Self { strikes, fence, cap, ..self.next(Stand::Queued { wake }) };"#,
    },
    Patch {
        file: INBOX,
        from: "Ok(Plan::new(vec![self.put(row), audit], row))",
        to: r#"let put = unguarded!("a replay without the guard of its receipt", self.put(row));
        let audit = if wrong!("a replay without its audit line") { put } else { audit };
        Ok(Plan::new(vec![put, audit], row))"#,
    },
    Patch {
        file: INBOX,
        from: "vec![Write::Purge { id: self.id, rev: self.rev }]",
        to: r#"vec![unguarded!("a purge without the guard of its receipt", Write::Purge { id: self.id, rev: self.rev })]"#,
    },
    Patch {
        file: INBOX,
        from: "Self { rev: self.rev.wrapping_add(1), stand, ..*self }",
        to: r#"Self { rev: self.rev.wrapping_add(u32::from(!wrong!("a receipt without a new revision"))), stand, ..*self }"#,
    },
    // Work: claims.
    Patch {
        file: WORK,
        from: "let wake = now + policy.work_limit_ms;",
        to: r#"let wake = if wrong!("a claim of a receipt that can be taken over at once") { now } else { now + policy.work_limit_ms };
        let wake = if wrong!("a claim of a receipt that nobody can take over") { Millis(u64::MAX) } else { wake };"#,
    },
    Patch {
        file: WORK,
        from: "Stand::Queued { .. } | Stand::Deferred { .. } => Stand::Queued { wake },",
        to: r#"Stand::Deferred { .. } if wrong!("a receipt at work sleeps on") => Stand::Deferred { wake },
            Stand::Queued { .. } | Stand::Deferred { .. } => Stand::Queued { wake },"#,
    },
    Patch {
        file: WORK,
        from: "let fence = self.fence.wrapping_add(1);
        let cap",
        to: r#"let fence = self.fence.wrapping_add(u32::from(!wrong!("a claim of a receipt without a new fence")));
        let cap"#,
    },
    Patch {
        file: WORK,
        from: "let row = Self { strikes: self.strikes.saturating_add(1), fence, cap, ..self.next(stand) };
        Some(Plan::new(vec![self.put(row)], Claim::Work(Job { receipt: self.id, fence })))",
        to: r#"let row = Self { strikes: self.strikes.saturating_add(1), fence, cap, ..self.next(stand) };
        let put = unguarded!("a claim of a receipt without its guard", self.put(row));
        Some(Plan::new(vec![put], Claim::Work(Job { receipt: self.id, fence })))"#,
    },
    Patch {
        file: WORK,
        from: "vec![self.put(self.next(Stand::InReview(reason))), alert]",
        to: r#"let put = unguarded!("a receipt set aside without its guard", self.put(self.next(Stand::InReview(reason))));
        if wrong!("a receipt set aside without its alert") { vec![put] } else { vec![put, alert] }"#,
    },
    Patch {
        file: WORK,
        from: "let end = if self.applied { End::Applied } else { end };
        self.put(Self { applied, strikes: 0, ..self.next(Stand::Done(end)) })",
        to: r#"let end = if self.applied && !wrong!("a replay that rewrites an applied end") { End::Applied } else { end };
        let applied = applied && !wrong!("a receipt that forgets that it was applied");
        unguarded!("a receipt finished without its guard", self.put(Self { applied, strikes: 0, ..self.next(Stand::Done(end)) }))"#,
    },
    Patch {
        file: WORK,
        from: "self.id == job.receipt && self.fence == job.fence && self.wake().is_some()",
        to: r#"self.id == job.receipt
            && (self.fence == job.fence || wrong!("any claim of a receipt is held by whoever had one"))
            && (self.wake().is_some() || wrong!("a claim of a receipt that is through is held"))"#,
    },
    // Work: decisions.
    Patch {
        file: WORK,
        from: "Standing::Impossible if receipt.applied => {",
        to: r#"Standing::Impossible if receipt.applied && !wrong!("a replay of an applied entry is impossible") => {"#,
    },
    Patch {
        file: WORK,
        from: "Standing::Overtaken | Standing::Impossible if ground.booked => {",
        to: r#"Standing::Overtaken | Standing::Impossible if ground.booked && !wrong!("what is booked and passed is overtaken") => {"#,
    },
    Patch {
        file: WORK,
        from: "if !ground.is_news(fetched) {",
        to: r#"if !ground.is_news(fetched) && !wrong!("an answer that is no news is applied") {"#,
    },
    Patch {
        file: WORK,
        from: "let writes = vec![
            ground.move_to(fetched.state, fetched.version),
            receipt.finish(End::Applied),
            Write::Wake { entity: ground.entity.id },
        ];",
        to: r#"let mut writes = vec![
            unguarded!("a refetch without the guard of its entity", ground.move_to(fetched.state, fetched.version)),
            unguarded!("a refetch without the guard of its receipt", receipt.finish(End::Applied)),
        ];
        if !wrong!("a refetch that wakes nobody") {
            writes.push(Write::Wake { entity: ground.entity.id });
        }"#,
    },
    Patch {
        file: WORK,
        from: "if !receipt.is_held_by(*self) {
            return None;
        }
        let (strikes, wait)",
        to: r#"if !receipt.is_held_by(*self) && !wrong!("a failure of work without its fence") {
            return None;
        }
        let (strikes, wait)"#,
    },
    Patch {
        file: WORK,
        from: "let reason = Reason::Failing;",
        to: r#"let reason = if wrong!("a failing event is set aside for another reason") { Reason::WorkerLost } else { Reason::Failing };"#,
    },
    Patch {
        file: WORK,
        from: "let row = Receipt { strikes, fence: receipt.fence.wrapping_add(1), ..receipt.next(stand) };
        Some(Plan::new(vec![receipt.put(row)], Failed::Retrying { wake }))",
        to: r#"let step = u32::from(!wrong!("a failure of work without a new fence"));
        let row = Receipt { strikes, fence: receipt.fence.wrapping_add(step), ..receipt.next(stand) };
        let put = unguarded!("a failure of work without the guard of its receipt", receipt.put(row));
        Some(Plan::new(vec![put], Failed::Retrying { wake }))"#,
    },
    Patch {
        file: WORK,
        from: "receipt.proposal.filter(|_| receipt.is_held_by(*self))",
        to: r#"receipt.proposal.filter(|_| receipt.is_held_by(*self) || wrong!("work without its fence"))"#,
    },
    Patch {
        file: WORK,
        from: "Plan::new(vec![Write::Operation(operation), audit], ())",
        to: r#"Plan::new(vec![unguarded!("a booking by hand without the key of its operation", Write::Operation(operation)), audit], ())"#,
    },
    Patch {
        file: WORK,
        from: "Some(Write::Delivery(Put { was: None, row }))",
        to: r#"Some(unguarded!("an effect outside without the unique key of its delivery", Write::Delivery(Put { was: None, row })))"#,
    },
    Patch {
        file: WORK,
        from: "let moved = to.map(|to| ground.move_to(to, proposal.version));",
        to: r#"let moved = to.map(|to| unguarded!("an event applied without the guard of its entity", ground.move_to(to, proposal.version)));"#,
    },
    Patch {
        file: WORK,
        from: "writes.extend([Write::Operation(operation), receipt.finish(end)]);",
        to: r#"writes.push(unguarded!("an event applied without the key of its operation", Write::Operation(operation)));
            writes.push(unguarded!("an event booked without the guard of its receipt", receipt.finish(end)));"#,
    },
    Patch {
        file: WORK,
        from: "writes.push(Write::Wake { entity: ground.entity.id });
            writes.push(Write::Handle { receipt: receipt.id, operation });",
        to: r#"if !wrong!("an event that books and wakes nobody") {
                writes.push(Write::Wake { entity: ground.entity.id });
            }
            writes.push(Write::Handle { receipt: receipt.id, operation });"#,
    },
    Patch {
        file: WORK,
        from: "writes.extend([receipt.finish(end), Write::Wake { entity: ground.entity.id }]);",
        to: r#"writes.push(unguarded!("an event applied without the guard of its receipt", receipt.finish(end)));
            if !wrong!("an event that books nothing and wakes nobody") {
                writes.push(Write::Wake { entity: ground.entity.id });
            }"#,
    },
    Patch {
        file: WORK,
        from: "if now >= receipt.cap {",
        to: r#"if now >= receipt.cap && !wrong!("a deferral without a cap") {"#,
    },
    Patch {
        file: WORK,
        from: "let wake = receipt.cap.min(now + policy.defer_timer_ms);
    let (strikes, fence) = (receipt.pardoned(), receipt.fence.wrapping_add(1));
    let row = Receipt { strikes, fence, ..receipt.next(Stand::Deferred { wake }) };
    let writes = vec![ground.project(proposal), receipt.put(row)];",
        to: r#"let timer = now + policy.defer_timer_ms;
        let wake = if wrong!("a deferral that sleeps past its cap") { timer } else { receipt.cap.min(timer) };
        let wake = if wrong!("a deferral without a timer") { receipt.cap } else { wake };
        let step = u32::from(!wrong!("a deferral without a new fence"));
        let (strikes, fence) = (receipt.pardoned(), receipt.fence.wrapping_add(step));
        let row = Receipt { strikes, fence, ..receipt.next(Stand::Deferred { wake }) };
        let writes = vec![
            unguarded!("a deferral without its HoldEntity", ground.project(proposal)),
            unguarded!("a deferral without the guard of its receipt", receipt.put(row)),
        ];"#,
    },
    Patch {
        file: WORK,
        from: "Plan::new(vec![ground.withdraw(proposal), receipt.finish(end)], Worked::Done(end))",
        to: r#"Plan::new(vec![
            unguarded!("an end without its HoldEntity", ground.withdraw(proposal)),
            unguarded!("an end without the guard of its receipt", receipt.finish(end)),
        ], Worked::Done(end))"#,
    },
    Patch {
        file: WORK,
        from: "let mut writes = vec![ground.withdraw(proposal)];",
        to: r#"let mut writes = vec![unguarded!("a receipt set aside without its HoldEntity", ground.withdraw(proposal))];"#,
    },
    // Work: the entity.
    Patch {
        file: GROUND,
        from: "if usize::from(fetched.state.0) >= self.model.states() {",
        to: r#"if usize::from(fetched.state.0) >= self.model.states() && !wrong!("an answer with a state that is none") {"#,
    },
    Patch {
        file: GROUND,
        from: "fetched.version >= proposal.version",
        to: r#"fetched.version > proposal.version || fetched.version == proposal.version && !wrong!("an answer as new as the event does not cover it")"#,
    },
    Patch {
        file: GROUND,
        from: "let projected = self.entity.projected.filter(|shown| self.is_ahead(*shown, state));",
        to: r#"let projected = self.entity.projected.filter(|shown| self.is_ahead(*shown, state) || wrong!("a projection that stays when it is reached"));"#,
    },
    Patch {
        file: GROUND,
        from: "if self.model.early() == Early::Project && intended.is_some_and(further) {",
        to: r#"if self.model.early() == Early::Project && intended.is_some_and(further) && !wrong!("an early event that projects nothing") {"#,
    },
    Patch {
        file: GROUND,
        from: "if self.entity.projected.is_some() && self.entity.projected == intended {",
        to: r#"if self.entity.projected.is_some() && self.entity.projected == intended && !wrong!("a projection that is not withdrawn") {"#,
    },
    Patch {
        file: GROUND,
        from: "Write::Entity(Put { was: Some(was), row: Entity { rev: was + 1, ..row } })",
        to: r#"let rev = was + u32::from(!wrong!("an entity without a new revision"));
        Write::Entity(Put { was: Some(was), row: Entity { rev, ..row } })"#,
    },
    Patch {
        file: MODEL,
        from: "Ordering::Equal if to > entity.state => Standing::Due(to),",
        to: r#"Ordering::Equal if to > entity.state && !wrong!("of equal versions the first wins") => Standing::Due(to),"#,
    },
];

pub(super) const OUTBOX: &str = "core/src/outbox.rs";
pub(super) const EVENT: &str = "core/src/outbox/event.rs";
pub(super) const ENDPOINT: &str = "core/src/endpoint.rs";
pub(super) const INBOX: &str = "core/src/inbox.rs";
pub(super) const WORK: &str = "core/src/work.rs";
pub(super) const GROUND: &str = "core/src/work/ground.rs";
pub(super) const MODEL: &str = "core/src/model/mod.rs";
pub(super) const PLAN: &str = "core/src/plan.rs";
pub(super) const DB: &str = "sim/src/world/db.rs";
pub(super) const DRIVER: &str = "sim/src/world/work.rs";
