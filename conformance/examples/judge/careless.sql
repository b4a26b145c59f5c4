-- The same, at a partner who answers first and stores then, and takes each request for a new one.
INSERT INTO outbox VALUES
    ('evt_1', 'order-17', 'order.paid', '{"order":"order-17"}', '2026-03-01T10:00:00.000Z'),
    ('evt_2', 'order-18', 'order.paid', '{"order":"order-18"}', '2026-03-01T10:02:00.000Z');
INSERT INTO attempts VALUES
    ('evt_1', 1, 'b1', '2026-03-01T10:00:00.500Z', '2026-03-01T10:00:10.500Z', NULL),
    ('evt_1', 2, 'b1', '2026-03-01T10:01:11.000Z', '2026-03-01T10:01:11.090Z', 200),
    ('evt_2', 1, 'b2', '2026-03-01T10:02:00.500Z', '2026-03-01T10:02:00.640Z', 200);
INSERT INTO requests VALUES
    ('evt_1', 1, 'b1', 1, '2026-03-01T10:00:00.530Z', '2026-03-01T10:00:00.540Z', 200),
    ('evt_1', 2, 'b1', 1, '2026-03-01T10:01:11.030Z', '2026-03-01T10:01:11.040Z', 200),
    ('evt_2', 1, 'b2', 1, '2026-03-01T10:02:00.530Z', '2026-03-01T10:02:00.540Z', 200);
INSERT INTO inbox VALUES
    (1, 'evt_1', 'order-17', 'order.paid', 'b1', '2026-03-01T10:00:00.600Z'),
    (2, 'evt_1', 'order-17', 'order.paid', 'b1', '2026-03-01T10:01:11.100Z'),
    (3, 'evt_2', 'order-18', 'order.paid', 'b2', '2026-03-01T10:02:00.600Z');
INSERT INTO bookings VALUES
    ('order-17', 1, '2026-03-01T10:00:01.200Z'),
    ('order-17', 2, '2026-03-01T10:01:12.000Z'),
    ('order-18', 3, '2026-03-01T10:02:01.100Z');
