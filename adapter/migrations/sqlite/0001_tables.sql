-- The version of the schema: one row a step that was run.
CREATE TABLE hookproof_schema (
    version     INTEGER  NOT NULL PRIMARY KEY,
    applied_at  INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) STRICT;

-- The tables of a sender and a receiver, as in PostgreSQL. Ids are UUIDs in their usual spelling, in
-- either case; instants are milliseconds since the epoch. `wake` is when a row must be looked at
-- again, NULL where never: the one predicate of every poll. The clock is spelled so that a SQLite of any
-- age that knows these tables reads it, since other programs insert with theirs.

CREATE TABLE hookproof_endpoints (
    id       TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    rev      INTEGER  NOT NULL DEFAULT 0,
    account  TEXT     NOT NULL DEFAULT '',
    url      TEXT     NOT NULL,
    life     TEXT     NOT NULL DEFAULT 'active',
    reason   TEXT,
    left_ms  INTEGER,
    next_ms  INTEGER  NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX hookproof_endpoints_account ON hookproof_endpoints (account);

-- A subscription that ends stays, with when it did: who was subscribed at an instant must stay answerable.
CREATE TABLE hookproof_subscriptions (
    endpoint    TEXT     NOT NULL COLLATE NOCASE REFERENCES hookproof_endpoints (id),
    event_type  TEXT     NOT NULL,
    since_ms    INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    until_ms    INTEGER,
    PRIMARY KEY (endpoint, event_type, since_ms)
) STRICT, WITHOUT ROWID;

-- What signs for an endpoint, and when it counts. Sealed with a key that the database does not have. A
-- new endpoint's secret is written before it, in one transaction.
CREATE TABLE hookproof_secrets (
    id        TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    endpoint  TEXT     NOT NULL COLLATE NOCASE
        REFERENCES hookproof_endpoints (id) DEFERRABLE INITIALLY DEFERRED,
    sealed    BLOB     NOT NULL,
    from_ms   INTEGER  NOT NULL,
    until_ms  INTEGER,
    revoked   INTEGER  NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX hookproof_secrets_endpoint ON hookproof_secrets (endpoint);

-- The contract's columns alone are a complete enqueue: everything else has a default.
CREATE TABLE outbox_events (
    id              TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    aggregate_type  TEXT     NOT NULL,
    aggregate_id    TEXT     NOT NULL,
    event_type      TEXT     NOT NULL,
    payload         TEXT,
    created_at      INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    processed_at    INTEGER,
    account         TEXT     NOT NULL DEFAULT '',
    payload_bytes   BLOB,
    digest          BLOB     CHECK (length(digest) = 16),
    rev             INTEGER  NOT NULL DEFAULT 0,
    wake            INTEGER
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    payload_gone    INTEGER  NOT NULL DEFAULT 0,
    CONSTRAINT outbox_events_one_payload
        CHECK ((payload IS NOT NULL) + (payload_bytes IS NOT NULL) = 1 - payload_gone)
) STRICT;

CREATE INDEX outbox_events_wake ON outbox_events (wake) WHERE wake IS NOT NULL;
-- What the sweep looks through: fanned out, and not with everybody yet.
CREATE INDEX outbox_events_unmarked ON outbox_events (id)
    WHERE wake IS NULL AND processed_at IS NULL;

CREATE TABLE hookproof_deliveries (
    id            TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    rev           INTEGER  NOT NULL,
    subject_kind  TEXT     NOT NULL,
    subject       TEXT     NOT NULL COLLATE NOCASE,
    transition    INTEGER  NOT NULL,
    occurrence    INTEGER  NOT NULL,
    endpoint      TEXT     NOT NULL COLLATE NOCASE REFERENCES hookproof_endpoints (id),
    stand         TEXT     NOT NULL,
    reason        TEXT,
    wake          INTEGER,
    lease         INTEGER,
    hurried       INTEGER  NOT NULL,
    attempt       INTEGER  NOT NULL,
    rung          INTEGER  NOT NULL,
    cycle         INTEGER  NOT NULL,
    fence         INTEGER  NOT NULL,
    created       INTEGER  NOT NULL,
    CONSTRAINT hookproof_deliveries_subject
        UNIQUE (subject_kind, subject, transition, occurrence, endpoint)
) STRICT;

-- What is due at an endpoint, oldest first: one probe a lane, whatever waits elsewhere.
CREATE INDEX hookproof_deliveries_wake ON hookproof_deliveries (endpoint, wake)
    WHERE wake IS NOT NULL;
-- What takes a slot of an endpoint.
CREATE INDEX hookproof_deliveries_lease ON hookproof_deliveries (endpoint, lease)
    WHERE lease IS NOT NULL;

CREATE TABLE webhook_inbox (
    id                  TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    partner_name        TEXT     NOT NULL,
    account             TEXT     NOT NULL DEFAULT '',
    partner_event_id    TEXT     NOT NULL,
    payload             TEXT,
    signature_verified  INTEGER  NOT NULL DEFAULT 1,
    status              TEXT     NOT NULL DEFAULT 'PENDING',
    received_at         INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    processed_at        INTEGER,
    payload_bytes       BLOB,
    event_type          TEXT     NOT NULL,
    resource            TEXT     NOT NULL,
    verified_by         TEXT     NOT NULL DEFAULT '',
    digest              BLOB     NOT NULL CHECK (length(digest) = 16),
    rev                 INTEGER  NOT NULL,
    entity              TEXT     COLLATE NOCASE,
    event               INTEGER,
    occurrence          INTEGER,
    version             INTEGER,
    verdict             TEXT,
    reason              TEXT,
    wake                INTEGER,
    strikes             INTEGER  NOT NULL,
    fence               INTEGER  NOT NULL,
    applied             INTEGER  NOT NULL,
    cap                 INTEGER  NOT NULL,
    payload_gone        INTEGER  NOT NULL DEFAULT 0,
    CONSTRAINT webhook_inbox_delivery UNIQUE (partner_name, account, partner_event_id),
    CONSTRAINT webhook_inbox_one_payload
        CHECK ((payload IS NOT NULL) + (payload_bytes IS NOT NULL) = 1 - payload_gone),
    CONSTRAINT webhook_inbox_verified CHECK (signature_verified)
) STRICT;

CREATE INDEX webhook_inbox_wake ON webhook_inbox (wake) WHERE wake IS NOT NULL;
-- What sleeps on an entity, oldest first: the wake's own path.
CREATE INDEX webhook_inbox_deferred ON webhook_inbox (entity, received_at)
    WHERE status = 'DEFERRED';

CREATE TABLE hookproof_entities (
    id         TEXT     NOT NULL PRIMARY KEY COLLATE NOCASE,
    rev        INTEGER  NOT NULL DEFAULT 0,
    state      INTEGER  NOT NULL DEFAULT 0,
    version    INTEGER  NOT NULL DEFAULT 0,
    projected  INTEGER
) STRICT;

-- Never purged: a key that is here is booked for ever.
CREATE TABLE hookproof_operations (
    entity      TEXT     NOT NULL COLLATE NOCASE,
    transition  INTEGER  NOT NULL,
    occurrence  INTEGER  NOT NULL,
    booked_at   INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    PRIMARY KEY (entity, transition, occurrence)
) STRICT, WITHOUT ROWID;

CREATE TABLE hookproof_alerts (
    id          INTEGER  PRIMARY KEY,
    about_kind  TEXT     NOT NULL,
    about       TEXT     NOT NULL COLLATE NOCASE,
    reason      TEXT     NOT NULL,
    raised_at   INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER)),
    sent_at     INTEGER
) STRICT;

CREATE INDEX hookproof_alerts_unsent ON hookproof_alerts (id) WHERE sent_at IS NULL;

CREATE TABLE hookproof_audit (
    id          INTEGER  PRIMARY KEY,
    what        TEXT     NOT NULL,
    about       TEXT     NOT NULL COLLATE NOCASE,
    by_whom     TEXT     COLLATE NOCASE,
    transition  INTEGER,
    occurrence  INTEGER,
    digest      BLOB,
    at          INTEGER  NOT NULL
        DEFAULT (CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))
) STRICT;
