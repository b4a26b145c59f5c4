"""Publishes an event by plain SQL, in the transaction that changes the business: both or neither.

    python3 adapter/examples/enqueue.py orders.db 2 paid
"""

import json
import pathlib
import sqlite3
import sys
import uuid


def enqueue(database, order, stands):
    event_type = f"order.{stands}"
    payload = json.dumps({"type": event_type, "data": {"order": order}})
    # The database is the service's: where there is none, none is made.
    with sqlite3.connect(f"{pathlib.Path(database).absolute().as_uri()}?mode=rw", uri=True) as transaction:
        transaction.execute(
            "INSERT INTO orders (id, stands) VALUES (?1, ?2)"
            " ON CONFLICT (id) DO UPDATE SET stands = ?2 WHERE stands = 'paid'",
            (order, stands),
        )
        transaction.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload)"
            " VALUES (?, 'order', ?, ?, ?)",
            (str(uuid.uuid4()), order, event_type, payload),
        )


def refuse(why):
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)


if len(sys.argv) != 4 or sys.argv[3] not in ("paid", "shipped"):
    refuse("expected a database, an order, and `paid` or `shipped`: enqueue.py orders.db 2 paid")
try:
    enqueue(*sys.argv[1:])
except sqlite3.Error as error:
    refuse(f"expected the database of a running orders example at {sys.argv[1]}: {error}")
