-- The version of the schema: one row a step that was run.
CREATE TABLE hookproof_schema (
    version     bigint       PRIMARY KEY,
    applied_at  timestamptz  NOT NULL DEFAULT clock_timestamp()
);

-- The tables of a sender and a receiver. The contract's columns have types of their own; instants
-- that only decisions read are milliseconds since the epoch. `wake` is when a row must be looked at
-- again, NULL where never: the one predicate of every poll.

CREATE FUNCTION hookproof_now() RETURNS bigint LANGUAGE sql VOLATILE
    RETURN floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint;

CREATE TABLE hookproof_endpoints (
    id       uuid    PRIMARY KEY,
    rev      bigint  NOT NULL DEFAULT 0,
    account  text    NOT NULL DEFAULT '',
    url      text    NOT NULL,
    life     text    NOT NULL DEFAULT 'active',
    reason   text,
    left_ms  bigint,
    next_ms  bigint  NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- Each claim moves the rate on, so a page keeps room for the next version of its rows: no index names
-- a column that a claim changes, and the update stays within the page (HOT).

CREATE INDEX hookproof_endpoints_account ON hookproof_endpoints (account);

-- A subscription that ends stays, with when it did: who was subscribed at an instant must stay answerable.
CREATE TABLE hookproof_subscriptions (
    endpoint    uuid    NOT NULL REFERENCES hookproof_endpoints (id),
    event_type  text    NOT NULL,
    since_ms    bigint  NOT NULL DEFAULT hookproof_now(),
    until_ms    bigint,
    PRIMARY KEY (endpoint, event_type, since_ms)
);

-- What signs for an endpoint, and when it counts. Sealed with a key that the database does not have. A
-- new endpoint's secret is written before it, in one transaction.
CREATE TABLE hookproof_secrets (
    id        uuid     PRIMARY KEY,
    endpoint  uuid     NOT NULL REFERENCES hookproof_endpoints (id) DEFERRABLE INITIALLY DEFERRED,
    sealed    bytea    NOT NULL,
    from_ms   bigint   NOT NULL,
    until_ms  bigint,
    revoked   boolean  NOT NULL DEFAULT false
);

CREATE INDEX hookproof_secrets_endpoint ON hookproof_secrets (endpoint);

-- The contract's columns alone are a complete enqueue: everything else has a default.
CREATE TABLE outbox_events (
    id              uuid         PRIMARY KEY,
    aggregate_type  text         NOT NULL,
    aggregate_id    text         NOT NULL,
    event_type      text         NOT NULL,
    payload         text,
    created_at      timestamptz  NOT NULL DEFAULT clock_timestamp(),
    processed_at    timestamptz,
    account         text         NOT NULL DEFAULT '',
    payload_bytes   bytea,
    digest          bytea        CHECK (octet_length(digest) = 16),
    rev             bigint       NOT NULL DEFAULT 0,
    wake            bigint       DEFAULT hookproof_now(),
    payload_gone    boolean      NOT NULL DEFAULT false,
    CONSTRAINT outbox_events_one_payload
        CHECK (num_nonnulls(payload, payload_bytes) = CASE WHEN payload_gone THEN 0 ELSE 1 END)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
-- An event is changed twice in its life and read by polls all the time: vacuum early, so that a poll
-- does not step over the entries of events that were fanned out long ago.

CREATE INDEX outbox_events_wake ON outbox_events (wake) WHERE wake IS NOT NULL;
-- What the sweep looks through: fanned out, and not with everybody yet.
CREATE INDEX outbox_events_unmarked ON outbox_events (id)
    WHERE wake IS NULL AND processed_at IS NULL;

CREATE TABLE hookproof_deliveries (
    id            uuid     PRIMARY KEY,
    rev           bigint   NOT NULL,
    subject_kind  text     NOT NULL,
    subject       uuid     NOT NULL,
    transition    bigint   NOT NULL,
    occurrence    bigint   NOT NULL,
    endpoint      uuid     NOT NULL REFERENCES hookproof_endpoints (id),
    stand         text     NOT NULL,
    reason        text,
    wake          bigint,
    lease         bigint,
    hurried       boolean  NOT NULL,
    attempt       bigint   NOT NULL,
    rung          bigint   NOT NULL,
    cycle         bigint   NOT NULL,
    fence         bigint   NOT NULL,
    created       bigint   NOT NULL,
    CONSTRAINT hookproof_deliveries_subject
        UNIQUE (subject_kind, subject, transition, occurrence, endpoint)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 1);
-- The busiest table: two new versions an attempt, and each leaves a dead entry in the index below
-- that a claim steps over. So it is vacuumed after one row in a hundred.

-- What is due at an endpoint, oldest first: one probe a lane, whatever waits elsewhere.
CREATE INDEX hookproof_deliveries_wake ON hookproof_deliveries (endpoint, wake)
    WHERE wake IS NOT NULL;
-- What takes a slot of an endpoint.
CREATE INDEX hookproof_deliveries_lease ON hookproof_deliveries (endpoint, lease)
    WHERE lease IS NOT NULL;

CREATE TABLE webhook_inbox (
    id                  uuid         PRIMARY KEY,
    partner_name        text         NOT NULL,
    account             text         NOT NULL DEFAULT '',
    partner_event_id    text         NOT NULL,
    payload             text,
    signature_verified  boolean      NOT NULL DEFAULT true,
    status              text         NOT NULL DEFAULT 'PENDING',
    received_at         timestamptz  NOT NULL DEFAULT clock_timestamp(),
    processed_at        timestamptz,
    payload_bytes       bytea,
    event_type          text         NOT NULL,
    resource            text         NOT NULL,
    verified_by         text         NOT NULL DEFAULT '',
    digest              bytea        NOT NULL CHECK (octet_length(digest) = 16),
    rev                 bigint       NOT NULL,
    entity              uuid,
    event               bigint,
    occurrence          bigint,
    version             bigint,
    verdict             text,
    reason              text,
    wake                bigint,
    strikes             bigint       NOT NULL,
    fence               bigint       NOT NULL,
    applied             boolean      NOT NULL,
    cap                 bigint       NOT NULL,
    payload_gone        boolean      NOT NULL DEFAULT false,
    CONSTRAINT webhook_inbox_delivery UNIQUE (partner_name, account, partner_event_id),
    CONSTRAINT webhook_inbox_one_payload
        CHECK (num_nonnulls(payload, payload_bytes) = CASE WHEN payload_gone THEN 0 ELSE 1 END),
    CONSTRAINT webhook_inbox_verified CHECK (signature_verified)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX webhook_inbox_wake ON webhook_inbox (wake) WHERE wake IS NOT NULL;
-- What sleeps on an entity, oldest first: the wake's own path.
CREATE INDEX webhook_inbox_deferred ON webhook_inbox (entity, received_at)
    WHERE status = 'DEFERRED';

CREATE TABLE hookproof_entities (
    id         uuid    PRIMARY KEY,
    rev        bigint  NOT NULL DEFAULT 0,
    state      bigint  NOT NULL DEFAULT 0,
    version    bigint  NOT NULL DEFAULT 0,
    projected  bigint
) WITH (fillfactor = 80);

-- Never purged: a key that is here is booked for ever.
CREATE TABLE hookproof_operations (
    entity      uuid         NOT NULL,
    transition  bigint       NOT NULL,
    occurrence  bigint       NOT NULL,
    booked_at   timestamptz  NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (entity, transition, occurrence)
);

CREATE TABLE hookproof_alerts (
    id          bigint       GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    about_kind  text         NOT NULL,
    about       uuid         NOT NULL,
    reason      text         NOT NULL,
    raised_at   timestamptz  NOT NULL DEFAULT clock_timestamp(),
    sent_at     timestamptz
);

CREATE INDEX hookproof_alerts_unsent ON hookproof_alerts (id) WHERE sent_at IS NULL;

CREATE TABLE hookproof_audit (
    id          bigint       GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what        text         NOT NULL,
    about       uuid         NOT NULL,
    by_whom     uuid,
    transition  bigint,
    occurrence  bigint,
    digest      bytea,
    at          timestamptz  NOT NULL DEFAULT clock_timestamp()
);
