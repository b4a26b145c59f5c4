//! The statements that write.

// Keys never change, so no lock needs to be stronger; a stronger one would wait for every delivery that
// is being inserted beside its endpoint.
pub(super) const LOCK_ENDPOINTS: &str = "SELECT id, rev FROM hookproof_endpoints WHERE id = ANY($1)
     ORDER BY id FOR NO KEY UPDATE";
pub(super) const LOCK_ENTITIES: &str = "SELECT id, rev FROM hookproof_entities WHERE id = ANY($1)
     ORDER BY id FOR NO KEY UPDATE";
pub(super) const LOCK_RECEIPTS: &str = "SELECT id, rev FROM webhook_inbox WHERE id = ANY($1)
     ORDER BY id FOR NO KEY UPDATE";
pub(super) const LOCK_EVENTS: &str = "SELECT id, rev FROM outbox_events WHERE id = ANY($1)
     ORDER BY id FOR NO KEY UPDATE";
pub(super) const LOCK_DELIVERIES: &str =
    "SELECT id, rev FROM hookproof_deliveries WHERE id = ANY($1)
     ORDER BY id FOR NO KEY UPDATE";

// Each names the one constraint whose violation means that the place is taken: any other is an error (R4).
pub(super) const INSERT_ENDPOINTS: &str = "INSERT INTO hookproof_endpoints
         (id, rev, account, url, life, left_ms, next_ms)
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[],
         $7::bigint[]) AS new (id) ORDER BY id
     ON CONFLICT (id) DO NOTHING RETURNING id";
pub(super) const INSERT_SUBSCRIPTIONS: &str =
    "INSERT INTO hookproof_subscriptions (endpoint, event_type)
     SELECT DISTINCT * FROM unnest($1::uuid[], $2::text[])";
pub(super) const INSERT_OPERATIONS: &str =
    "INSERT INTO hookproof_operations (entity, transition, occurrence)
     SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[])
         AS new (entity, transition, occurrence) ORDER BY entity, transition, occurrence
     ON CONFLICT (entity, transition, occurrence) DO NOTHING
     RETURNING entity, transition, occurrence";
pub(super) const INSERT_RECEIPTS: &str = "INSERT INTO webhook_inbox
         (id, partner_name, account, partner_event_id, payload, payload_bytes, event_type, resource,
          digest, rev, entity, event, occurrence, version, status, reason, wake, strikes, fence,
          applied, cap, received_at, verified_by)
     SELECT id, partner_name, account, partner_event_id, payload, payload_bytes, event_type, resource,
         digest, rev, entity, event, occurrence, version, status, reason, wake, strikes, fence,
         applied, cap, timestamptz 'epoch' + received * interval '1 millisecond', verified_by
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::text[],
         $8::text[], $9::bytea[], $10::bigint[], $11::uuid[], $12::bigint[], $13::bigint[],
         $14::bigint[], $15::text[], $16::text[], $17::bigint[], $18::bigint[], $19::bigint[],
         $20::boolean[], $21::bigint[], $22::bigint[], $23::text[])
         WITH ORDINALITY
         AS new (id, partner_name, account, partner_event_id, payload, payload_bytes, event_type,
             resource, digest, rev, entity, event, occurrence, version, status, reason, wake, strikes,
             fence, applied, cap, received, verified_by, place)
     ORDER BY partner_name, account, partner_event_id, place
     ON CONFLICT (partner_name, account, partner_event_id) DO NOTHING RETURNING id";
pub(super) const INSERT_DELIVERIES: &str = "INSERT INTO hookproof_deliveries
         (id, rev, subject_kind, subject, transition, occurrence, endpoint, stand, wake, attempt, rung,
          cycle, fence, created, hurried)
     SELECT *, false FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::uuid[], $5::bigint[],
         $6::bigint[], $7::uuid[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[],
         $12::bigint[], $13::bigint[], $14::bigint[])
         AS new (id, rev, subject_kind, subject, transition, occurrence, endpoint)
     ORDER BY subject_kind, subject, transition, occurrence, endpoint
     ON CONFLICT (subject_kind, subject, transition, occurrence, endpoint) DO NOTHING RETURNING id";
pub(super) const INSERT_EVENT: &str = "INSERT INTO outbox_events
         (id, account, aggregate_type, aggregate_id, event_type, payload, payload_bytes, digest, rev,
          created_at, wake)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, timestamptz 'epoch' + $10 * interval '1 millisecond',
         $11)
     ON CONFLICT (id) DO NOTHING";
pub(super) const INSERT_ALERTS: &str =
    "INSERT INTO hookproof_alerts (about_kind, about, reason, raised_at)
     SELECT *, timestamptz 'epoch' + $4 * interval '1 millisecond'
     FROM unnest($1::text[], $2::uuid[], $3::text[])";
pub(super) const INSERT_AUDIT: &str = "INSERT INTO hookproof_audit
         (what, about, by_whom, transition, occurrence, digest, at)
     SELECT *, timestamptz 'epoch' + $7 * interval '1 millisecond'
     FROM unnest($1::text[], $2::uuid[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bytea[])";

pub(super) const UPDATE_ENDPOINTS: &str = "UPDATE hookproof_endpoints AS row
     SET rev = new.rev, life = new.life, left_ms = new.left_ms, next_ms = new.next_ms
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
         AS new (id, rev, life, left_ms, next_ms)
     WHERE row.id = new.id";
pub(super) const UPDATE_ENTITIES: &str = "UPDATE hookproof_entities AS row
     SET rev = new.rev, state = new.state, version = new.version, projected = new.projected
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
         AS new (id, rev, state, version, projected)
     WHERE row.id = new.id";
pub(super) const UPDATE_RECEIPTS: &str = "UPDATE webhook_inbox AS row
     SET rev = new.rev, status = new.status, verdict = new.verdict, reason = new.reason,
         wake = new.wake, strikes = new.strikes, fence = new.fence, applied = new.applied,
         cap = new.cap,
         processed_at = timestamptz 'epoch' + new.processed * interval '1 millisecond'
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[],
         $7::bigint[], $8::bigint[], $9::boolean[], $10::bigint[], $11::bigint[])
         AS new (id, rev, status, verdict, reason, wake, strikes, fence, applied, cap, processed)
     WHERE row.id = new.id";
pub(super) const UPDATE_EVENTS: &str = "UPDATE outbox_events AS row
     SET rev = new.rev, wake = new.wake, digest = new.digest,
         processed_at = timestamptz 'epoch' + new.processed * interval '1 millisecond'
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])
         AS new (id, rev, wake, processed, digest)
     WHERE row.id = new.id";
pub(super) const UPDATE_DELIVERIES: &str = "UPDATE hookproof_deliveries AS row
     SET rev = new.rev, stand = new.stand, reason = new.reason, wake = new.wake, lease = new.lease,
         hurried = new.hurried, attempt = new.attempt, rung = new.rung, cycle = new.cycle,
         fence = new.fence
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
         $7::boolean[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
         AS new (id, rev, stand, reason, wake, lease, hurried, attempt, rung, cycle, fence)
     WHERE row.id = new.id";
pub(super) const PURGE: &str = "DELETE FROM webhook_inbox WHERE id = ANY($1)";

/// It may only lower a wake. A row that is locked is being decided under the entity's guard, will
/// conflict and decide again, so it is skipped: waiting for it in another order would deadlock.
pub(super) const WAKE: &str = "UPDATE webhook_inbox AS row SET wake = $2 FROM (
         SELECT id FROM webhook_inbox
         WHERE entity = ANY($1) AND status = 'DEFERRED' AND wake > $2
         ORDER BY received_at LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
     ) AS sleeper WHERE row.id = sleeper.id";
