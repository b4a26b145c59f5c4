-- The history of schema.sql, a line a row. Whoever exports vouches for `holds`: of these facts, each one that
-- happened is here. Nothing was purged, no backup restored, no machine lost, no process killed, nothing booked
-- by hand, nothing called outside, and no copy came with other bytes: those are listed, and have no line.
SELECT line FROM (
    SELECT '' AS at, 0 AS step, json_object(
        'format', 'hookproof-history/1',
        'profile', 'paymos',
        'holds', json('["committed","fanned_out","requested","responded","arrived","answered","received",
            "differed","effect","purged","booked_by_hand","external_call","restored","backed_up","power_lost",
            "crashed"]'),
        'types', json('{"order":{"states":2,"kind":"latest","order":"graph","early":"wait","events":[
            {"type":"order.paid","from":[0],"to":1,"books":{"transition":"pay","occurrence":"once"}}]}}'),
        'entities', 'order') AS line
    -- An outbox row is an event and, with one endpoint, its delivery.
    UNION ALL
    SELECT created_at, 1, json_object('at', created_at, 'by', 'app', 'fact', 'committed', 'event', id,
        'entity', order_no, 'type', event_type, 'occurrence', 0, 'version', 0,
        'body', (SELECT body FROM attempts WHERE outbox_id = id AND number = 1))
    FROM outbox
    UNION ALL
    SELECT created_at, 2, json_object('at', created_at, 'by', 'relay', 'fact', 'fanned_out', 'event', id,
        'endpoint', 'partner', 'delivery', id, 'id', id)
    FROM outbox
    UNION ALL
    SELECT started_at, 3, json_object('at', started_at, 'by', 'relay', 'fact', 'requested',
        'delivery', outbox_id, 'endpoint', 'partner', 'attempt', number, 'id', outbox_id, 'body', body)
    FROM attempts
    UNION ALL
    SELECT ended_at, 8, json_object('at', ended_at, 'by', 'relay', 'fact', 'responded',
        'delivery', outbox_id, 'attempt', number, 'outcome', json(CASE
            WHEN status IS NULL THEN '"unknown"'
            WHEN status BETWEEN 200 AND 299 THEN '"acknowledged"'
            ELSE json_object('refused', json_object('status', status)) END))
    FROM attempts
    UNION ALL
    SELECT arrived_at, 4, json_object('at', arrived_at, 'by', 'ingress', 'fact', 'arrived',
        'delivery', webhook_id, 'attempt', attempt, 'id', webhook_id, 'body', body,
        'authentic', iif(verified, 'yes', 'forged'))
    FROM requests
    UNION ALL
    SELECT received_at, 5, json_object('at', received_at, 'by', 'ingress', 'fact', 'received', 'receipt', id,
        'delivery', webhook_id, 'id', webhook_id, 'body', body, 'reading', json_object('event',
            json_object('entity', order_no, 'type', event_type, 'occurrence', 0, 'version', 0)))
    FROM inbox
    UNION ALL
    SELECT booked_at, 6, json_object('at', booked_at, 'by', 'worker', 'fact', 'effect',
        'operation', json_object('entity', order_no, 'transition', 'pay', 'occurrence', 0),
        'cause', json_object('receipt', inbox_id))
    FROM bookings
    UNION ALL
    SELECT answered_at, 7, json_object('at', answered_at, 'by', 'ingress', 'fact', 'answered',
        'delivery', webhook_id, 'attempt', attempt, 'id', webhook_id, 'status', status)
    FROM requests
) ORDER BY at, step;
