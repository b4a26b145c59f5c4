-- A shop and its partner, written by hand, as many are. Times are RFC 3339 texts in UTC.

-- The shop: orders that are paid are told of, by a row in the transaction that books the payment.
CREATE TABLE outbox (
    id          TEXT NOT NULL PRIMARY KEY,  -- goes into the header webhook-id
    order_no    TEXT NOT NULL,
    event_type  TEXT NOT NULL,
    payload     TEXT NOT NULL,
    created_at  TEXT NOT NULL
);

-- The shop's relay writes down each request, and how it ended; no status: nobody knows.
CREATE TABLE attempts (
    outbox_id   TEXT NOT NULL REFERENCES outbox (id),
    number      INTEGER NOT NULL,
    body        TEXT NOT NULL,              -- a digest of what was sent
    started_at  TEXT NOT NULL,
    ended_at    TEXT NOT NULL,
    status      INTEGER,
    PRIMARY KEY (outbox_id, number)
);

-- The partner's log of requests: the shop shows the number of its attempt in a header.
CREATE TABLE requests (
    webhook_id   TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    body         TEXT NOT NULL,
    verified     INTEGER NOT NULL,
    arrived_at   TEXT NOT NULL,
    answered_at  TEXT NOT NULL,
    status       INTEGER NOT NULL
);

-- The partner's inbox. A careful one has UNIQUE (webhook_id).
CREATE TABLE inbox (
    id           INTEGER PRIMARY KEY,
    webhook_id   TEXT NOT NULL,
    order_no     TEXT NOT NULL,
    event_type   TEXT NOT NULL,
    body         TEXT NOT NULL,
    received_at  TEXT NOT NULL              -- of the commit
);

-- What the partner does for a paid order: it books it.
CREATE TABLE bookings (
    order_no   TEXT NOT NULL,
    inbox_id   INTEGER NOT NULL REFERENCES inbox (id),
    booked_at  TEXT NOT NULL
);
