"""Publishes an event by plain SQL, in the transaction that changes the business: both or neither.

    python3 adapter/examples/enqueue.py orders.db 2 paid
"""

import json
import sqlite3
import sys
import uuid

database, order, stands = sys.argv[1:]
event_type = f"order.{stands}"
payload = json.dumps({"type": event_type, "data": {"order": order}})

with sqlite3.connect(database) as transaction:
    transaction.execute(
        "INSERT INTO orders (id, stands) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET stands = ?2",
        (order, stands),
    )
    transaction.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, payload)"
        " VALUES (?, 'order', ?, ?, ?)",
        (str(uuid.uuid4()), order, event_type, payload),
    )
