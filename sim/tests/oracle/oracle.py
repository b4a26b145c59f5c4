#!/usr/bin/env python3
"""A second oracle over histories, written from the contract and vectors/HISTORY.md alone.

    python3 oracle.py HISTORY.jsonl …

It reads complete histories ("holds":"all") and prints, for each of the 36 promises that a history decides, pass or
fail, with the first line that breaks it and a sentence. Each promise is judged by itself, over the whole file, and
shares with the others nothing but the indexes of `History`. Where the file has no `ended`, nothing is said of the end.

Every check stands behind the sentence of the contract that it implements, in quotation marks.
"""
import json
import sys
from bisect import bisect_left
from collections import defaultdict
from datetime import datetime

ROOM = "the contract leaves room"   # a breach by its wording that README.md lists; told only with --strict
SLACK = 250    # ms between the moment at which a decision reads the time and the line of its commit
FINAL = {"applied", "already_booked", "overtaken", "ignored", "in_review"}
HOOKPROOF = dict(ladder_ms=[60000 * m for m in (1, 2, 4, 8, 16, 32)] + [3600000 * h for h in (1, 2, 4, 8)])
LIMITS = dict(time_limit_ms=10000, start_limit_ms=5000, retry_after_max_ms=86400000, on_gone="climb", on_exhausted="keep",
              resend_window_ms=30 * 86400000, slots=4, interval_ms=0, burst=1)
INBOX = dict(ladder_ms=[60000, 300000, 900000], work_limit_ms=30000, defer_timer_ms=300000, defer_cap_ms=86400000,
             pause_ms=1000, retention_ms=None)
SCHEME = dict(lists=True, strangers=False, covers_header=True, overlap_ms=86400000, notice_ms=3600000, tolerance_ms=300000,
              wants_200=False, greets=False)


class Line(dict):
    """A fact: its fields, and n (its line in the file), i (its place), t, by, kind (of the process), fact."""
    def __init__(self, i, n, fields):
        super().__init__(fields)
        self.i, self.n, self.t, self.by, self.fact = i, n, fields.get("at_ms", number(fields.get("at"))), fields["by"], fields["fact"]
        self.kind = self.by if " " not in self.by else self.by.rsplit(" ", 1)[0]
        about = fields.get("about") or (fields.get("cause") if self.fact == "effect" else None)
        if about and not (self.kind == "effect relay"):   # the receiver's own outbox counts its rows apart
            self.update(about)
        if "operation" in fields:
            self["op"] = opkey(fields["operation"])

    def of(self, field):
        """A case and what it holds: ("waiting", {"wait_ms": 5}), ("claimed", None)."""
        value = self.get(field)
        return next(iter(value.items())) if isinstance(value, dict) else (value, None)


def opkey(op):
    return op["entity"], op["transition"], op["occurrence"]


SENDER = set("committed fanned_out fan_out_done swept claimed claim_lost released settled closed resent endpoint".split())
RECEIVER = set("received differed work_claimed worked moved projected effect work_failed woken replayed purged "
               "booked_by_hand".split())
BEFORE = {"settled": ("endpoint", "dead_lettered", "alerted"), "closed": ("endpoint", "dead_lettered", "alerted", "claim_lost"),
          "received": ("dead_lettered", "alerted"), "worked": ("moved", "projected", "effect", "dead_lettered", "alerted")}


class History:
    """The lines, with what every promise asks of them: which rows lived when, how a row stood, what one commit held."""

    def __init__(self, text):
        rows = [(n, json.loads(l)) for n, l in enumerate(text.splitlines(), 1) if l.strip()]
        head = rows[0][1]
        self.profile = dict(HOOKPROOF | LIMITS, **(head["profile"] if isinstance(head["profile"], dict) else {}))
        self.inbox = dict(INBOX, **(head["inbox"] if isinstance(head.get("inbox"), dict) else {}))
        self.scheme = dict(SCHEME, **(head["scheme"] if isinstance(head.get("scheme"), dict) else {}))
        self.poll, self.skew = head.get("poll_ms", 1000), head.get("skew_ms", 60000)
        self.types, self.entities = head.get("types", {}), head.get("entities", {})
        self.lines = [Line(i, n, f) for i, (n, f) in enumerate(rows[1:])]
        self.by_fact, self.index = defaultdict(list), defaultdict(list)
        for l in self.lines:
            self.by_fact[l.fact].append(l)
            for key in ("delivery", "receipt", "entity", "event", "endpoint", "op"):
                if key in l:
                    self.index[key, l[key]].append(l)
        self.ended = bool(self.lines) and self.lines[-1].fact == "ended"
        self.end = len(self.lines)
        self.undo = {side: self._undone(side) for side in ("sender", "receiver")}
        self.clocks = self._clocks()
        self.requests = self._requests()

    def _undone(self, side):
        """For each restore, what it takes back: all that was committed behind the last backup."""
        backup, out = 0, []
        for l in self.lines:
            if l.fact == "backed_up" and l["side"] == side:
                backup = l.i
            if l.fact == "restored" and l["side"] == side:
                out.append((backup, l.i))
        return out

    def _clocks(self):
        clocks = defaultdict(lambda: [(-1, 0)])
        for l in self.by_fact["clock_jumped"]:
            clocks[l.by].append((l.i, clocks[l.by][-1][1] + l["by_ms"]))
        return clocks

    def clock(self, of, i):
        """How far a clock is from true time at this place."""
        jumps = self.clocks[of]
        return jumps[bisect_left(jumps, (i + 1,)) - 1][1]

    def reads(self, of, line):
        """What a clock shows at a line; it shows nothing before the epoch."""
        return max(0, line.t + self.clock(of, line.i))

    def alive(self, line, at):
        """Whether a committed line is still so at this place: no restore has taken it back."""
        side = "sender" if line.fact in SENDER else "receiver"
        return not any(b < line.i < r < at for b, r in self.undo[side])

    def past(self, key, value, facts, at):
        return [l for l in self.index[key, value] if l.i < at and l.fact in facts and self.alive(l, at)]

    def last(self, key, value, facts, at):
        found = self.past(key, value, facts, at)
        return found[-1] if found else None

    def between(self, a, b, facts):
        return [l for l in self.lines[a + 1:b] if l.fact in facts]

    def commit(self, line):
        """The lines that committed with the one that says what it was."""
        out, i = [line], line.i - 1
        while i >= 0 and (l := self.lines[i]).t == line.t and l.by == line.by and l.fact in BEFORE.get(line.fact, ()):
            out.insert(0, l)
            i -= 1
        i = line.i + 1
        while i < self.end and (l := self.lines[i]).t == line.t and l.by == line.by and l.fact == "woken":
            out.append(l)
            i += 1
        return out

    # How rows stood just before a place.

    def delivery(self, d, at):
        row = None
        for l in self.past("delivery", d, ("fanned_out", "claimed", "released", "claim_lost", "settled", "closed", "resent"), at):
            if l.fact == "fanned_out":
                row = dict(stand="waiting", due=l, wait=0, attempt=0, rung=0, cycle=1, claim=None, id=l["id"], line=l,
                           event=l["event"], endpoint=l["endpoint"], pulled=None, lost=True)
            elif row is None:
                continue
            elif l.fact == "claimed":
                row.update(stand="claimed", claim=l, due=l, wait=l["wait_ms"], attempt=l["attempt"], rung=l["rung"],
                           cycle=l["cycle"], line=l, pulled=None, lost=False)
            elif l.fact == "released":
                row.update(stand="waiting", due=l, wait=0, attempt=row["attempt"] - 1, rung=row["rung"] - 1, lost=True)
            elif l.fact == "claim_lost":
                row.update(lost=True)
            elif l.fact in ("settled", "closed"):
                stand, more = l.of("stand")
                row.update(stand=stand, more=more, due=l, wait=more["wait_ms"] if stand == "waiting" else 0, line=l, lost=True)
            elif l.of("answer")[0] == "opened":
                row.update(stand="waiting", due=l, wait=0, rung=0, cycle=l["answer"]["opened"]["cycle"], line=l, pulled=l)
            elif l["answer"] == "pulled_forward":
                row.update(pulled=l)
        return row

    def receipt(self, r, at):
        row = None
        for l in self.past("receipt", r, ("received", "work_claimed", "worked", "work_failed", "woken", "replayed", "purged"), at):
            if l.fact == "received":
                reading = l.of("reading")
                stand = {"unknown_type": "ignored", "unreadable": "in_review"}.get(reading[0], "queued")
                row = dict(stand=stand, born=l, event=reading[1], strike=0, claim=None, due=l, wait=0, deferred=None, cap=None, first=None,
                           applied=False, done=False)
            elif row is None:
                continue
            elif l.fact == "work_claimed":
                row.update(claim=l, strike=l["strike"], first=row["first"] or l)   # the cap counts from the first look
            elif l.fact == "worked":
                verdict, more = l.of("verdict")
                # once applied it has its effect: a replay that finds it so does not take that back (E1)
                kept = row["applied"] and verdict in ("already_booked", "overtaken")
                stand = "applied" if kept else {"set_aside": "in_review"}.get(verdict, verdict)
                if verdict == "deferred":
                    row.update(deferred=row["deferred"] or row["first"] or l, strike=row["strike"] - 1)
                row.update(claim=None, stand=stand, due=l, wait=more["timer_ms"] if verdict == "deferred" else 0, line=l,
                           applied=row["applied"] or verdict == "applied", cap=more["cap_ms"] if verdict == "deferred" else None,
                           done=row["done"] or verdict in ("applied", "already_booked", "overtaken"))
            elif l.fact == "work_failed":
                row.update(claim=None, stand=l.of("stand")[0], due=l, wait=l["wait_ms"],
                           strike=row["strike"] - (l["fault"] == "infrastructure"))
            elif l.fact == "woken":
                row.update(due=l, wait=0)
            elif l.fact == "replayed" and l["answer"] == "accepted":
                row.update(stand="queued", due=l, wait=0, strike=0, deferred=None, claim=None, first=None, cap=None)
            elif l.fact == "purged":
                row = None
        return row

    def entity(self, e, at):
        move = self.last("entity", e, ("moved",), at)
        return (move["to"], number(move["version"])) if move else (0, 0)

    def booked(self, op, at):
        return self.last("op", op, ("effect", "booked_by_hand"), at)

    def endpoint(self, e, at):
        """Whether it is subscribed, and whether it takes requests."""
        subscribed = active = False
        for l in self.index["endpoint", e]:
            if l.fact == "endpoint" and l.i < at and self.alive(l, at):
                life = l["life"]
                subscribed = life not in ("unsubscribed", "deleted") and (subscribed or life == "registered")
                active = life in ("registered", "resumed") or (active and life == "changed")
        return subscribed, active and subscribed

    def table(self, e):
        name = self.entities if isinstance(self.entities, str) else self.entities.get(str(e))
        return self.types.get(name)

    def rule(self, event):
        table = self.table(event["entity"])
        return table and next((r for r in table["events"] if r["type"] == event["type"]), None)

    def operation(self, event):
        rule = self.rule(event)
        if not rule or "books" not in rule:
            return None
        occurrence = event["occurrence"] if rule["books"]["occurrence"] == "from_event" else 0
        return event["entity"], rule["books"]["transition"], occurrence

    def standing(self, event, state, version):
        """Where an event stands to its entity, as HISTORY.md says it."""
        table, rule, given = self.table(event["entity"]), self.rule(event), number(event["version"])
        latest = table["kind"] == "latest"
        if table["order"] == "graph":
            if state in rule["from"]:
                return "due"
            if reaches(table, state) & set(rule["from"]):
                return "early"
            return "overtaken" if state in reaches(table, rule["to"]) | {rule["to"]} else "impossible"
        if table["order"] == "sequence":
            if given == version + 1:
                return "due" if state in rule["from"] else "impossible"
            return "early" if given > version else "overtaken" if latest else "impossible"
        if given > version:
            return "due"
        if given == version and rule["to"] != state and latest and table["order"] == "instant":
            return "equal"
        if given == version and rule["to"] > state:
            return "due"
        return "overtaken" if latest else "late"

    def _requests(self):
        """Pairs of what arrived and its answer; (None, answer) where nothing had arrived, (arrival, None) where none left."""
        waiting, out = defaultdict(list), []
        for l in self.lines:
            if l.fact == "crashed":
                for key in [k for k in waiting if k[0] == l.by]:
                    waiting.pop(key)
            if l.fact in ("arrived", "answered"):
                key = l.by, l["delivery"], l["attempt"], str(l["id"])
                if l.fact == "arrived":
                    waiting[key].append(l)
                    continue
                copies = waiting[key]
                fits = [a for a in copies if (a["authentic"] == "yes") != (400 <= l["status"] < 500)] or list(copies)
                if fits:
                    copies.remove(fits[-1])   # copies of one request look alike: the one that is answered soonest
                out.append((fits[-1] if fits else None, l))
        return out + [(a, None) for copies in waiting.values() for a in copies]

    def hit(self, arrived, answered, late=False):
        """Whether a fault hit this request at its ingress or the database behind it (late: one that takes time)."""
        end = answered.i if answered else self.end
        for l in self.lines[arrived.i + 1:end]:
            if late and l.fact != "crashed" and l.get("family") != "stall":
                continue
            if l.by == arrived.by and l.fact in ("fault", "crashed", "rolled_back_by_database", "conflicted", "commit_unknown"):
                return True
            if l.fact in ("secret", "clock_jumped", "restored") or (l.fact == "database_up" and l["side"] == "receiver"):
                return True
        downs = [] if late else [l for l in self.by_fact["database_up"] if l["side"] == "receiver" and l.i < end]
        return bool(downs) and not downs[-1]["up"]

    def acks(self, status):
        return status == 200 if self.scheme["wants_200"] else 200 <= status < 300


def number(version):
    """A version, or the milliseconds of an instant."""
    if isinstance(version, str):
        return datetime.fromisoformat(version.replace("Z", "+00:00")).timestamp() * 1000
    return version


def troubles(h, kind, db):
    """When something kept these processes from their work: pairs of a place, and until when. Who stands still or is dead is
    in trouble until the next line by it; a failed or unknown commit, and a claim that died, until a claim's time is over."""
    p = h.profile
    lease = max(p["start_limit_ms"] + p["time_limit_ms"], h.inbox["work_limit_ms"] if kind == "worker" else 0)
    everybody, bad, out, since = {l.by for l in h.lines if l.kind == kind}, set(), [], None
    for l in h.lines:
        if l.kind == kind and (l.fact == "crashed" or l.get("family") == "stall"):
            bad.add(l.by)
            since = l.i if bad == everybody and since is None else since
        elif l.by in bad and l.fact != "restarted":
            bad.discard(l.by)
            if since is not None:
                out.append((since, l.t + lease))
                since = None
        if l.kind == kind and (l.fact in ("crashed", "commit_unknown", "rolled_back_by_database", "restarted") or l.get("family") == "stall") \
                or l.by == db and l.fact in ("clock_jumped", "database_up", "restored", "power_lost") \
                or l.fact == "work_failed" and l["fault"] == "infrastructure":
            out.append((l.i, l.t + lease))
        if l.by == db and l.fact == "clock_jumped" and (behind := h.clock(db, l.i)) + l.t < 0:
            out.append((l.i, lease - behind))   # a clock before the epoch: nothing is due by it
    down = [l for l in h.lines if l.by == db and l.fact == "database_up"]
    out += [(a.i, b.t + lease) for a, b in zip(down, down[1:]) if not a["up"]]
    return out + ([(since, float("inf"))] if since is not None else [])


def full(h, endpoint, at):
    """Until when an endpoint had as many claims open as it takes, or had to be given time between two."""
    open_, until = {}, 0
    for c in [x for x in h.index["endpoint", endpoint] if x.fact == "claimed" and x.i < at]:
        for d, (_, end) in list(open_.items()):
            if end <= c.t:
                del open_[d]
        ends = next((x for x in h.index["delivery", c["delivery"]] if x.i > c.i and x.fact in ("settled", "closed", "released", "claim_lost", "claimed")), None)
        open_[c["delivery"]] = c, ends.t if ends is not None else c.t + c["wait_ms"]
        if len(open_) >= h.profile["slots"]:
            until = max(until, min(end for _, end in open_.values()))
        until = max(until, c.t + h.profile["interval_ms"])
    return until


def reaches(table, state):
    seen, todo = set(), [state]
    while todo:
        at = todo.pop()
        for rule in table["events"]:
            if at in rule["from"] and rule["to"] not in seen and rule["to"] != at:
                seen.add(rule["to"])
                todo.append(rule["to"])
    return seen


# --- Sending --------------------------------------------------------------------------------------------------------

def s1(h):
    """"an outbox row exists if and only if the business transaction committed; no request starts before that commit;
    none ever for a rolled-back one" """
    for l in h.lines:
        if l.fact in ("fanned_out", "fan_out_done", "swept") and not h.past("event", l["event"], ("committed",), l.i):
            yield l, f"event {l['event']} is fanned out, and was not committed"
        if l.fact in ("claimed", "requested") and not h.past("delivery", l["delivery"], ("fanned_out",), l.i):
            yield l, f"delivery {l['delivery']} is sent, and has no committed row"


def s2(h):
    """"a delivery is attempted until it is acknowledged, its cycle is used up, or it is cancelled with a reason" """
    rungs = len(h.profile["ladder_ms"]) + 1
    for l in h.by_fact["settled"] + h.by_fact["closed"]:
        d, (stand, more) = l["delivery"], l.of("stand")
        if stand == "acknowledged":
            if not any(r["outcome"] == "acknowledged" and r["fence"] == l.get("fence")
                       for r in h.past("delivery", d, ("responded",), l.i)):
                yield l, f"delivery {d} is marked acknowledged, and no answer said so"
        if stand == "cancelled":
            if more["reason"] not in ("endpoint_gone", "operator"):
                yield l, f"delivery {d} is cancelled for no reason"
            row = h.delivery(d, l.i)
            if more["reason"] == "endpoint_gone" and row and h.endpoint(row["endpoint"], l.i + 1)[0]:
                yield l, f"delivery {d} is cancelled for its endpoint, which is subscribed"
        if stand == "failed":
            row = h.delivery(d, l.i)
            if row and row["rung"] < rungs and not gone(h, l):
                yield l, f"delivery {d} failed on rung {row['rung']} of {rungs}"
    for l in h.by_fact["claimed"]:
        row = h.delivery(l["delivery"], l.i)
        if row and row["stand"] in ("acknowledged", "failed", "cancelled"):
            yield l, f"delivery {l['delivery']} is {row['stand']}, and claimed again"
    for l in h.by_fact["swept"]:
        for f in h.past("event", l["event"], ("fanned_out",), l.i):
            if h.delivery(f["delivery"], l.i)["stand"] not in ("acknowledged", "cancelled"):
                yield l, f"event {l['event']} is marked as processed, and delivery {f['delivery']} is not acknowledged"
    if not h.ended:
        return
    stands = {l["delivery"]: l for l in h.by_fact["delivery_stands"]}
    for f in h.by_fact["fanned_out"]:
        if not h.alive(f, h.end):
            continue
        s, row = stands.get(f["delivery"]), h.delivery(f["delivery"], h.end)
        if s is None:
            yield h.lines[-1], f"delivery {f['delivery']} is lost"
        elif s.of("stand")[0] in ("waiting", "claimed") and h.endpoint(f["endpoint"], s.i)[1]:
            yield s, f"delivery {f['delivery']} is still {s.of('stand')[0]}"
        elif row and s.of("stand")[0] != row["stand"]:
            yield s, f"delivery {f['delivery']} stands {s.of('stand')[0]}, and was {row['stand']}"
    for c in h.by_fact["committed"]:
        if h.alive(c, h.end) and not h.past("event", c["event"], ("fan_out_done",), h.end):
            yield h.lines[-1], f"event {c['event']} was never fanned out"


def gone(h, settled):
    """"every outcome that is not an acknowledgement climbs (4xx too), except what the profile names (410, 413)" """
    answers = [r for r in h.past("delivery", settled["delivery"], ("responded",), settled.i) if r["fence"] == settled.get("fence")]
    return h.profile["on_gone"] != "climb" and answers and answers[-1].of("outcome")[0] == "refused" \
        and answers[-1]["outcome"]["refused"]["status"] == 410


def s3(h):
    """"the delivery id is fixed before the first attempt and never changes, through retries and resends" """
    for l in h.by_fact["requested"]:
        row = h.delivery(l["delivery"], l.i)
        if row and l["id"] != row["id"]:
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} shows id {l['id']} instead of {row['id']}"
    for l in h.by_fact["fanned_out"]:
        for other in h.past("delivery", l["delivery"], ("fanned_out",), l.i):
            if other["id"] != l["id"] or other["event"] != l["event"]:
                yield l, f"delivery {l['delivery']} is given another id, or to another event"
        for other in h.by_fact["fanned_out"]:
            if other.i < l.i and other["id"] == l["id"] and other["delivery"] != l["delivery"] and h.alive(other, l.i):
                yield l, f"delivery {l['delivery']} has the id of delivery {other['delivery']}"


def s4(h):
    """"the body is byte for byte the same in every attempt" """
    for l in h.by_fact["requested"]:
        row = h.delivery(l["delivery"], l.i)
        event = row and h.last("event", row["event"], ("committed",), l.i)
        if event and l["body"] != event["body"]:
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} carries other bytes than its event"


def s5(h):
    """"a worker whose claim was taken over can neither settle nor release nor fail the delivery: the write changes no
    row; a worker starts no request once its own deadline since the claim has passed" """
    for l in h.lines:
        if l.fact in ("settled", "released"):
            row = h.delivery(l["delivery"], l.i)
            if not row or row["stand"] != "claimed" or row["claim"]["fence"] != l["fence"] or row["claim"].by != l.by:
                yield l, f"delivery {l['delivery']} is {l.fact} under claim {l['fence']}, which is not its claim"
            elif row["claim"]["attempt"] != l.get("attempt", row["claim"]["attempt"]):
                yield l, f"delivery {l['delivery']} is settled for another attempt"
        if l.fact == "requested":
            claims = [c for c in h.past("delivery", l["delivery"], ("claimed",), l.i) if c["fence"] == l["fence"]]
            if not claims or claims[-1].by != l.by:
                yield l, f"a request of delivery {l['delivery']} under claim {l['fence']}, which its worker has not"
            elif l.t - claims[-1].t > h.profile["start_limit_ms"] + SLACK:
                yield l, f"a request {l.t - claims[-1].t} ms after its claim"
            elif claims and (row := h.delivery(l["delivery"], l.i)) and row["line"] is not claims[-1] \
                    and row["line"].fact != "closed" and not stalled(h, l.by, claims[-1].i, l.i):
                yield l, f"a request of delivery {l['delivery']} under claim {l['fence']}, which is over"
        if l.fact == "claim_lost":
            row = h.delivery(l["delivery"], l.i)
            if row and (row["stand"] != "claimed" or row["claim"]["fence"] != l["fence"]):
                yield l, f"claim {l['fence']} of delivery {l['delivery']} is called lost, and is not open"
        if l.fact == "claimed":
            row = h.delivery(l["delivery"], l.i)
            if row and row["stand"] == "claimed" and not row["lost"]:
                yield l, f"delivery {l['delivery']} is claimed while claim {row['claim']['fence']} holds"
            if l["wait_ms"] < h.profile["start_limit_ms"] + h.profile["time_limit_ms"]:
                yield l, f"the claim of delivery {l['delivery']} can be taken over in mid-request, after {l['wait_ms']} ms"
            if any(c["fence"] == l["fence"] for c in h.past("delivery", l["delivery"], ("claimed",), l.i)):
                yield l, f"two claims of delivery {l['delivery']} have one fence"


def stalled(h, by, a, b):
    return any(l.by == by and l["family"] == "stall" for l in h.between(a, b, ("fault",)))


def s6(h):
    """"start(k+1) ≥ settled(k) + wait(k), or claimed(k) + wait(k) where the worker died; jitter only adds, at most 5 %;
    every outcome that is not an acknowledgement climbs; Retry-After may lengthen a wait within a clamp; at most N requests
    a cycle, at least N minus the claims that died; each shown as "claim lost"; the endpoint stays active" """
    p, ladder = h.profile, h.profile["ladder_ms"]
    for l in h.lines:
        if l.fact == "claimed":
            row = h.delivery(l["delivery"], l.i)
            if not row:
                continue
            if (l["attempt"], l["rung"], l["cycle"]) != (row["attempt"] + 1, row["rung"] + 1, row["cycle"]):
                yield l, f"attempt {l['attempt']} on rung {l['rung']} of cycle {l['cycle']} does not follow the one before"
            if l["rung"] > len(ladder) + 1:
                yield l, f"rung {l['rung']} of a ladder of {len(ladder) + 1}"
            if row["stand"] not in ("waiting", "claimed"):
                yield l, f"delivery {l['delivery']} is claimed, and is {row['stand']}"
            if row["stand"] == "claimed" and not row["lost"]:
                yield l, f"claim {row['claim']['fence']} ended, and is not shown as lost"
            base = ladder[l["rung"] - 1] if 0 < l["rung"] <= len(ladder) else 0
            if not base <= l["wait_ms"] <= max(base * 1.05 + 1, p["start_limit_ms"] + p["time_limit_ms"]):
                yield l, f"a wait of {l['wait_ms']} ms where the ladder says {base}"
            if row["wait"] and not row["pulled"] and early(h, row, l):
                yield l, f"attempt {l['attempt']} of delivery {l['delivery']} comes before its wait is over"
        if l.fact == "claim_lost":
            row = h.delivery(l["delivery"], l.i)
            if row and row["claim"] and row["stand"] == "claimed" and not row["pulled"] and early(h, row, l):
                yield l, f"claim {l['fence']} is taken for lost before its wait is over"
            if row and row["claim"] and row["claim"]["fence"] != l["fence"]:
                yield l, f"claim {l['fence']} is called lost, and is not the last"
        if l.fact == "settled" and l.of("stand")[0] == "waiting":
            row = h.delivery(l["delivery"], l.i)
            rung = row["rung"] if row else 0
            if rung > len(ladder):
                yield l, f"delivery {l['delivery']} waits behind its last rung"
            elif rung and not (row["pulled"] and l["stand"]["waiting"]["wait_ms"] == 0):
                asked = [r["outcome"]["refused"].get("retry_after_ms") or 0 for r in h.past("delivery", l["delivery"], ("responded",), l.i)
                         if r["fence"] == l["fence"] and r.of("outcome")[0] == "refused"]
                clamped = min(asked[-1], p["retry_after_max_ms"]) if asked else 0
                low, high = ladder[rung - 1], max(ladder[rung - 1] * 1.05 + 1, clamped)
                if not low <= l["stand"]["waiting"]["wait_ms"] <= high:
                    yield l, f"a wait of {l['stand']['waiting']['wait_ms']} ms where the ladder says {low}"
        if l.fact == "settled" and l.of("stand")[0] == "waiting" and gone(h, l):
            yield l, f"delivery {l['delivery']} climbs on after a 410 that ends it"
        if l.fact in ("settled", "closed") and l.of("stand")[0] == "failed":
            row = h.delivery(l["delivery"], l.i)
            wanted = p["on_gone"] == "disable" if gone(h, l) else p["on_exhausted"] == "disable"
            if row and wanted and h.endpoint(row["endpoint"], l.i)[1]:
                yield l, f"delivery {l['delivery']} failed, and its endpoint is not disabled with it"
            if row and row["rung"] <= len(ladder) and not gone(h, l):
                yield l, f"delivery {l['delivery']} failed on rung {row['rung']} of {len(ladder) + 1}"
        if l.fact == "endpoint" and l["life"] == "disabled" and l.by != "operator":
            ends = [e for e in h.lines[l.i + 1:l.i + 6] if e.by == l.by and e.t == l.t and e.fact in ("settled", "closed")]
            used = ends and ends[0].of("stand")[0] == "failed"
            if not (used and (p["on_exhausted"] == "disable" or p["on_gone"] == "disable" and gone(h, ends[0]))):
                yield l, f"endpoint {l['endpoint']} is disabled, which the profile does not say"
        if l.fact == "requested":
            claims = [c for c in h.past("delivery", l["delivery"], ("claimed",), l.i) if c["fence"] == l["fence"]]
            if claims and claims[-1]["attempt"] != l["attempt"]:
                yield l, f"a request of delivery {l['delivery']} counts as attempt {l['attempt']}, and its claim as {claims[-1]['attempt']}"
            yield from horizon(h, l)
            claim = h.last("delivery", l["delivery"], ("claimed",), l.i)
            if any(r["fence"] == l["fence"] and r.by == l.by and (not claim or r.i > claim.i) for r in h.past("delivery", l["delivery"], ("requested",), l.i)):
                yield l, f"two requests of delivery {l['delivery']} under one claim"


def early(h, row, line):
    """Whether the wait, on the clock of the sender's database from the earliest moment it can have been read, is not over."""
    since = row["due"]
    if since.fact == "settled":
        answers = [r for r in h.past("delivery", since["delivery"], ("responded",), since.i) if r["fence"] == since["fence"]]
        since = answers[-1] if answers else since
    db = "sender db"
    slack = 0 if row["due"].fact == "settled" else h.poll
    start = since.t + min(h.clock(db, i) for i in range(since.i, row["due"].i + 1)) - slack
    return line.t + max(h.clock(db, i) for i in range(max(line.i - 40, since.i), line.i + 1)) < start + row["wait"]


def horizon(h, l):
    """"no attempt starts after the ladder's horizon (waits with jitter + attempts × (limit + clamp), not counting time in
    which the sender was down or the endpoint paused)" """
    p, row = h.profile, h.delivery(l["delivery"], l.i)
    first = row and [c for c in h.past("delivery", l["delivery"], ("claimed",), l.i) if c["cycle"] == row["cycle"]]
    if not first:
        return
    room = sum(p["ladder_ms"]) * 1.05 + (len(p["ladder_ms"]) + 1) * (p["time_limit_ms"] + p["retry_after_max_ms"])
    since, away = defaultdict(lambda: None), 0
    for x in h.between(first[0].i, l.i, ("crashed", "restarted", "database_up", "endpoint", "clock_jumped")):
        if x.fact == "clock_jumped":
            away += abs(x["by_ms"])
        elif x.fact == "crashed" or x.get("up") is False or x.get("life") in ("paused", "disabled", "unsubscribed"):
            since[x.by, x.get("endpoint")] = x.t
        elif since[x.by, x.get("endpoint")] is not None:
            away += x.t - since.pop((x.by, x.get("endpoint")))
    if l.t - first[0].t > room + away:
        yield l, f"attempt {l['attempt']} of delivery {l['delivery']} starts after the ladder's horizon"


def s7(h):
    """"one total deadline over connect, send, wait and read. Running out is *unknown*, kept apart from *refused*; complete
    status line and headers make an outcome known" """
    limit = h.profile["time_limit_ms"]
    for l in h.by_fact["responded"]:
        asked = [r for r in h.past("delivery", l["delivery"], ("requested", "dialled"), l.i) if r.by == l.by and r["attempt"] == l["attempt"]]
        asked = [r for r in asked if r.fact == "requested"][-1:] or asked[-1:]
        outcome, more = l.of("outcome")
        if outcome == "denied":
            continue
        sent = [r for r in asked if r.fact == "requested"]
        if not sent and outcome in ("acknowledged", "refused"):
            yield l, f"the outcome of attempt {l['attempt']} of delivery {l['delivery']} is known, and nothing was sent"
        if not asked:
            continue
        if l.t - asked[0].t > limit and not stalled(h, l.by, asked[0].i, l.i):
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} took {l.t - asked[0].t} ms"
        if outcome in ("acknowledged", "refused"):
            answers = [a["status"] for a in h.past("delivery", l["delivery"], ("answered",), l.i) if a.i > asked[0].i and a["attempt"] == l["attempt"]]
            between = any(f["family"] in ("early_ack", "foreign_ack", "refusal", "redirect") and f.i > asked[0].i or f["family"] == "endpoint_down"
                          for f in h.by_fact["fault"] if f.i < l.i)
            between = between or outcome == "refused" and down(h, asked[0].i, l.i)
            known = any(h.acks(s) for s in answers) if outcome == "acknowledged" else more["status"] in answers
            if not known and not between:
                yield l, f"attempt {l['attempt']} of delivery {l['delivery']} is {outcome}, and nobody answered so"
    for l in h.by_fact["settled"]:
        answers = [r for r in h.past("delivery", l["delivery"], ("responded",), l.i) if r["fence"] == l["fence"]]
        stand, more = l.of("stand")
        if not answers and any(r["fence"] == l["fence"] for r in h.past("delivery", l["delivery"], ("requested",), l.i)):
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} is settled while its request is under way"
        if stand == "failed" and answers and more["known"] != (answers[-1].of("outcome")[0] != "unknown"):
            yield l, f"delivery {l['delivery']} failed, and whether that is known is wrong"


def down(h, a, b):
    """Whether an ingress was down: whoever stands before it may answer in its place."""
    up = {}
    for l in h.lines[:b]:
        if l.kind == "ingress" and l.fact in ("crashed", "restarted"):
            up[l.by] = l.fact
            if l.fact == "crashed" and l.i > a or l.fact == "restarted" and l.i > a:
                return True
    return "crashed" in up.values()


def s8(h):
    """"every other delivery … started at most D later (one poll + one time limit unless set)": from one history alone it
    shows where a due delivery waits longer though nothing stood in its way: no fault, no crash, no limit of its endpoint """
    room, trouble = 2 * h.poll + h.profile["time_limit_ms"], troubles(h, "relay", "sender db")
    for l in h.by_fact["claimed"]:
        row = h.delivery(l["delivery"], l.i)
        if not row or row["stand"] != "waiting":
            continue
        due = h.reads("sender db", row["due"]) + row["wait"] - h.clock("sender db", l.i)
        due = max(row["pulled"].t if row["pulled"] else due, row["due"].t)
        # an endpoint that is full or paced, or whose claims died with their worker, starts nothing of its own
        own = [x.t for x in h.index["endpoint", row["endpoint"]] if x.i < l.i and x.fact == "endpoint"] + [full(h, row["endpoint"], l.i)]
        if l.t > max([due] + own + [t for i, t in trouble if i < l.i]) + room:
            yield l, f"delivery {l['delivery']} was due for {l.t - due} ms, and nothing stood in its way"
    for l in h.by_fact["fan_out_done"]:
        event = h.last("event", l["event"], ("committed",), l.i)
        if event and l.t > max([event.t] + [t for i, t in trouble if i < l.i]) + room:
            yield l, f"event {l['event']} was fanned out {l.t - event.t} ms after its commit, and nothing stood in its way"


def s9(h):
    """"schemes with lists carry one value per live secret for the overlap, then the old one is gone; single-value schemes
    switch at one stated instant; a revoked secret has no overlap" """
    for l in h.by_fact["requested"]:
        claim = h.last("delivery", l["delivery"], ("claimed",), l.i)
        row = h.delivery(l["delivery"], l.i)
        fits = [signers(h, row["endpoint"] if row else l["endpoint"], i) for i in sorted({claim.i if claim else l.i, l.i})]
        # between the claim, when the row is loaded, and the request its secrets may change
        if set(l["signed"]["secrets"]) not in fits:
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} is signed by {l['signed']['secrets']}, live are {sorted(fits[-1])}"


def signers(h, endpoint, at):
    life = {}
    for l in h.index["endpoint", endpoint]:
        if l.fact == "secret" and l.i < at:
            life[l["secret"]] = l["life"]
    live = {s for s, x in life.items() if x in ("made", "retired")}
    if h.scheme["lists"] or not live:
        return live
    made = sorted(s for s in live if life[s] == "made")
    retired = sorted(s for s in live if life[s] == "retired")
    return {made[0] if made else retired[-1]}


def s10(h):
    """"the vetted address is dialled; redirects are not followed" """
    for l in h.lines:
        if l.fact == "dialled" and l["address"] != "vetted":
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} dials an address that was not vetted"
        if l.fact in ("dialled", "requested"):
            claim = h.last("delivery", l["delivery"], ("claimed",), l.i)
            start = claim.i if claim else 0
            if any(x.fact == l.fact and x.by == l.by and x["delivery"] == l["delivery"] for x in h.between(start, l.i, (l.fact,))):
                yield l, f"attempt {l['attempt']} of delivery {l['delivery']} is {l.fact} twice"
        if l.fact == "responded" and l["outcome"] == "denied":
            claim = h.last("delivery", l["delivery"], ("claimed",), l.i)
            if claim and any(x["delivery"] == l["delivery"] and x.by == l.by for x in h.between(claim.i, l.i, ("dialled", "requested"))):
                yield l, f"attempt {l['attempt']} of delivery {l['delivery']} was denied, and dialled"


def s11(h):
    """"a person can resend a failed or acknowledged delivery within the resend window: a new cycle, the same id, only when
    none is open (asked of an open one, its next attempt is due now), two people at once open one; it goes the normal way
    and leaves an audit line" """
    for l in h.by_fact["resent"]:
        d, answer, row = l["delivery"], l.of("answer")[0], h.delivery(l["delivery"], l.i)
        audit = h.lines[l.i - 1] if l.i else None
        audited = audit is not None and audit.fact == "audited" and audit.get("delivery") == d and audit["person"] == l["person"]
        if answer != "refused" and not audited:
            yield l, f"a resend of delivery {d} leaves no audit line"
        open_now = row and row["stand"] in ("waiting", "claimed")
        if answer == "opened" and (not row or open_now or row["stand"] == "cancelled"):
            yield l, f"a resend opens a cycle of delivery {d}, which is {row['stand'] if row else 'not there'}"
        if answer == "opened" and row and l["answer"]["opened"]["cycle"] != row["cycle"] + 1:
            yield l, f"a resend of delivery {d} opens cycle {l['answer']['opened']['cycle']} after {row['cycle']}"
        if answer == "pulled_forward" and not open_now:
            yield l, f"a resend finds a cycle of delivery {d} open, and none is"
        born = h.last("delivery", d, ("fanned_out",), l.i)
        fresh = born and l.t + h.clock("sender db", l.i) - born.t - h.clock("sender db", born.i) < h.profile["resend_window_ms"]
        last = row and row["stand"] == "claimed" and row["rung"] > len(h.profile["ladder_ms"])   # it has no next attempt
        if answer == "refused" and open_now and fresh and not last and h.endpoint(row["endpoint"], l.i)[1]:
            yield l, f"a resend of delivery {d} is refused, and its cycle is open"
        if answer != "refused" and row and not h.endpoint(row["endpoint"], l.i)[1]:
            yield l, f"delivery {d} is to be sent again to an endpoint that takes nothing"
        if answer == "opened" and h.ended and h.alive(l, h.end):
            later = [x for x in h.index["delivery", d] if x.i > l.i and x.fact in ("claimed", "closed", "resent")]
            if not later and h.endpoint(row["endpoint"], h.end)[1]:
                yield h.lines[-1], f"a resend of delivery {d} came to nothing"
    for l in h.by_fact["claimed"] + h.by_fact["settled"]:
        row = h.delivery(l["delivery"], l.i)
        if row and l.fact == "claimed" and l["cycle"] != row["cycle"]:
            yield l, f"delivery {l['delivery']} climbs in cycle {l['cycle']}, which no resend opened"
        if row and row["pulled"] and l.of("stand")[0] == "waiting" and l["stand"]["waiting"]["wait_ms"] > 0 and row["pulled"].fact == "resent" \
                and row["pulled"]["answer"] == "pulled_forward":
            yield l, f"a person asked for delivery {l['delivery']} at once, and it is to wait"
    for l in h.by_fact["swept"]:
        for f in h.past("event", l["event"], ("fanned_out",), l.i):
            row = h.delivery(f["delivery"], l.i)
            if row and row["line"].fact == "resent":
                yield l, f"delivery {f['delivery']} is resent, and its event marked as processed"


def s12(h):
    """"a committed event gets exactly one delivery for each endpoint subscribed at its commit; none subscribed: closed as
    such" """
    for l in h.by_fact["fanned_out"]:
        if any(o["endpoint"] == l["endpoint"] for o in h.past("event", l["event"], ("fanned_out",), l.i)):
            yield l, f"event {l['event']} has a second delivery for endpoint {l['endpoint']}"
        event = h.last("event", l["event"], ("committed",), l.i)
        if event and not h.endpoint(l["endpoint"], event.i)[0]:
            yield l, f"event {l['event']} has a delivery for endpoint {l['endpoint']}, which was not subscribed", ROOM
    endpoints = {l["endpoint"] for l in h.by_fact["endpoint"]}
    for l in h.by_fact["fan_out_done"]:
        event, made = h.last("event", l["event"], ("committed",), l.i), h.past("event", l["event"], ("fanned_out",), l.i)
        wanted = {e for e in endpoints if event and h.endpoint(e, event.i)[0]}
        if h.past("event", l["event"], ("fan_out_done",), l.i):
            yield l, f"event {l['event']} is fanned out twice"
        if event and wanted - {m["endpoint"] for m in made} or l["deliveries"] != len(made):
            yield l, f"event {l['event']} has {len(made)} deliveries, and {len(wanted)} endpoints were subscribed"
        if l["closed"] and made:
            yield l, f"event {l['event']} is marked as processed, and has deliveries"
        if l["closed"] != (not made):
            yield l, f"event {l['event']} is closed without need, or not closed"
    for l in h.by_fact["claimed"]:
        row = h.delivery(l["delivery"], l.i)
        if row and row["endpoint"] != l["endpoint"]:
            yield l, f"delivery {l['delivery']} is claimed for endpoint {l['endpoint']}, which is not its own"
    for l in h.by_fact["swept"]:
        if h.past("event", l["event"], ("swept",), l.i) and not any(x.fact == "resent" for f in h.past("event", l["event"], ("fanned_out",), l.i)
                                                                    for x in h.index["delivery", f["delivery"]]):
            yield l, f"event {l['event']} is marked as processed, and was before"
        event = h.last("event", l["event"], ("committed",), l.i)
        made = {m["endpoint"] for m in h.past("event", l["event"], ("fanned_out",), l.i)}
        tried = all(h.past("delivery", m["delivery"], ("claimed", "closed"), l.i) for m in h.past("event", l["event"], ("fanned_out",), l.i))
        if event and {e for e in endpoints if h.endpoint(e, event.i)[0]} - made or not tried:
            yield l, f"event {l['event']} is marked as processed, and a delivery of it was never attempted"
    if h.ended:
        for c in h.by_fact["committed"]:
            if h.alive(c, h.end) and not h.past("event", c["event"], ("fan_out_done",), h.end):
                yield h.lines[-1], f"event {c['event']} was never fanned out"


def s13(h):
    """"each attempt is signed with the secrets live then and … the time of that attempt" """
    for l in h.by_fact["requested"]:
        claim = h.last("delivery", l["delivery"], ("claimed",), l.i)
        since = claim if claim and claim["fence"] == l["fence"] else l
        clocks = [h.clock("sender db", i) for i in range(since.i, l.i + 1)]
        if not since.t + min(clocks) <= l["signed"]["at_ms"] <= l.t + max(clocks):
            yield l, f"attempt {l['attempt']} of delivery {l['delivery']} is signed for another time"


def s14(h):
    """"at most c attempts in flight and r a second to one endpoint, also after an outage and in a bulk resend" """
    p, flights, starts = h.profile, defaultdict(dict), defaultdict(list)
    for l in h.lines:
        if l.fact == "crashed":
            for open_ in flights.values():
                for key in [k for k, r in open_.items() if r.by == l.by]:
                    del open_[key]
        if l.fact == "responded":
            for open_ in flights.values():
                open_.pop((l["delivery"], l["fence"]), None)
        if l.fact == "requested":
            e = l["endpoint"]
            open_ = flights[e]
            for key in [k for k, r in open_.items() if l.t > r.t + p["time_limit_ms"]]:
                del open_[key]
            open_[l["delivery"], l["fence"]] = l
            if len(open_) > p["slots"]:
                closed = [k for k in open_ if (row := h.delivery(k[0], l.i)) and row["stand"] != "claimed"]
                yield (l, f"{len(open_)} attempts in flight to endpoint {e}") + ((ROOM,) if len(open_) - len(closed) <= p["slots"] else ())
        if l.fact == "claimed" and not h.endpoint(l["endpoint"], l.i)[1]:
            yield l, f"delivery {l['delivery']} is claimed, and its endpoint takes nothing"
        if l.fact == "claimed" and p["interval_ms"]:
            e = l["endpoint"]
            starts[e].append(l)
            recent = starts[e][-p["burst"] - 1:]
            span = l.t - recent[0].t
            if len(recent) > p["burst"] and span < p["interval_ms"] - SLACK and not h.between(recent[0].i, l.i, ("clock_jumped", "restored", "released")):
                yield l, f"{len(recent)} attempts to endpoint {e} in {span} ms"


def s15(h):
    """"publishing again with the same idempotency key and body is one event; "duplicate" is answered only when the first is
    durable and due" """
    for l in h.by_fact["committed"]:
        if h.past("event", l["event"], ("committed",), l.i):
            yield l, f"event {l['event']} is committed twice"
    for l in h.by_fact["published"]:
        there = h.past("event", l["event"], ("committed",), l.i)
        if l["answer"] in ("accepted", "duplicate", "key_reused") and not there:
            yield l, f"event {l['event']} is {l['answer']}, and not there"
        if l["answer"] in ("accepted", "duplicate") and l["other_body"]:
            yield l, f"event {l['event']} has another body, and is {l['answer']}"
        if l["answer"] == "key_reused" and not l["other_body"]:
            yield l, f"event {l['event']} is refused for its body, which is the same"


# --- Receiving ------------------------------------------------------------------------------------------------------

def r1(h):
    """"the signature is checked over what the provider prescribes …; against each candidate and each live secret; within
    the tolerance where the scheme signs a time" """
    for a, l in h.requests:
        if a and l and a["authentic"] == "yes" and l["status"] in (400, 401, 403) \
                and not h.between(a.i, l.i, ("secret", "clock_jumped")):
            yield l, f"delivery {a['delivery']} is authentic, and answered {l['status']}"
        if a and l and a["authentic"] != "yes" and h.acks(l["status"]) and not h.hit(a, l):
            yield l, f"delivery {a['delivery']} is {a['authentic']}, and acknowledged"


def r2(h):
    """"a request that fails verification creates no receipt, no pending operation, no effect, and is answered 4xx, never
    5xx; a truncated request is neither receipt nor acknowledgement" """
    for a, l in h.requests:
        if l and not a:
            yield l, f"delivery {l['delivery']} is answered, and nothing whole had arrived"
        if a and l and a["authentic"] != "yes" and not 400 <= l["status"] < 500 and not h.hit(a, l):
            yield l, f"delivery {a['delivery']} is {a['authentic']}, and answered {l['status']}"
    for l in h.by_fact["received"]:
        came = [a for a in h.past("delivery", l["delivery"], ("arrived",), l.i) if a.by == l.by and a["body"] == l["body"]]
        if not any(a["authentic"] == "yes" or h.between(a.i, l.i, ("secret", "clock_jumped")) for a in came):
            yield l, f"receipt {l['receipt']} is committed for what never came authentic"
    for l in h.by_fact["differed"]:
        if not any(a.by == l.by and a["body"] == l["body"] and a["authentic"] == "yes" for a in h.by_fact["arrived"] if a.i < l.i):
            yield l, f"a difference of receipt {l['receipt']} is recorded for what never came authentic"


def key_of(h, line):
    """What a receipt is unique by: the source and account (the endpoint), and the delivery id."""
    row = h.last("delivery", line["delivery"], ("fanned_out", "requested", "claimed"), line.i)
    return (row["endpoint"] if row else None), str(line["id"])


def receipts_of(h, key, at):
    found = [l for l in h.by_fact["received"] if l.i < at and key_of(h, l) == key and h.alive(l, at)]
    return [l for l in found if not any(p.i > l.i for p in h.past("receipt", l["receipt"], ("purged",), at))]


def bare_acks(h):
    for a, l in h.requests:
        if a and l and h.acks(l["status"]) and a["authentic"] == "yes" and not receipts_of(h, key_of(h, a), l.i):
            yield a, l


def r3(h):
    """"the acknowledgement leaves only after the receipt would survive the loss of the process and of the machine" """
    for a, l in bare_acks(h):
        yield l, f"delivery id {a['id']} is acknowledged, and there is no receipt"
    if h.ended:
        stands = {l["receipt"] for l in h.by_fact["receipt_stands"]}
        for l in h.by_fact["received"]:
            if h.alive(l, h.end) and h.receipt(l["receipt"], h.end) and l["receipt"] not in stands:
                yield h.lines[-1], f"receipt {l['receipt']} is lost"
    for l in h.by_fact["work_claimed"]:
        row = h.receipt(l["receipt"], l.i)
        if row and (row["stand"] in FINAL or l["strike"] != row["strike"] + 1) and any(
                p["side"] == "receiver" for p in h.between(row["due"].i, l.i, ("power_lost",))):
            yield l, f"receipt {l['receipt']} is worked again: what was committed is lost with the machine"
    for l in h.by_fact["received"]:
        for other in receipts_of(h, key_of(h, l), l.i):
            if any(p["side"] == "receiver" for p in h.between(other.i, l.i, ("power_lost",))):
                yield l, f"receipt {other['receipt']} was lost with its machine"


def r4(h):
    """"duplicates fold into one receipt by a unique constraint. Duplicate of a committed receipt: the acknowledgement at
    once. … never acknowledge on another transaction's hope. Only that constraint's violation is a duplicate" """
    for l in h.by_fact["received"]:
        if receipts_of(h, key_of(h, l), l.i):
            yield l, f"delivery id {l['id']} has a second receipt"
    for a, l in bare_acks(h):
        yield l, f"delivery id {a['id']} is taken for a duplicate, and there is no receipt"
    for a, l in h.requests:
        if a and l and a["authentic"] == "yes" and not h.acks(l["status"]) and receipts_of(h, key_of(h, a), a.i) and not h.hit(a, l):
            yield l, f"delivery id {a['id']} has a receipt, and its duplicate is answered {l['status']}"


def r5(h):
    """"the answer never waits for business work …, within the provider's deadline; no effect before the receipt's commit" """
    for a, l in h.requests:
        if a and l and l.t - a.t > h.profile["time_limit_ms"] and not h.hit(a, l, late=True):
            yield l, f"delivery {a['delivery']} waited {l.t - a.t} ms for its answer"
        born = a and l and [r for r in h.past("delivery", a["delivery"], ("received",), l.i) if r.by == l.by and r.i > a.i]
        hung = born and [f for f in h.between(a.i, l.i, ("fault",)) if f.by == a.by and f["family"] == "hang"]
        if born and l.t - born[-1].t > SLACK and not hung and not h.hit(a, l, late=True):
            yield l, f"delivery {a['delivery']} waits for its answer behind its receipt, and no fault is why"
        if a and not l and h.ended and not h.hit(a, None):
            yield h.lines[-1], f"delivery {a['delivery']} arrived, and was never answered"
    for l in h.lines:
        if l.fact in ("effect", "handler_ran", "work_claimed", "worked") and "receipt" in l and not h.past("receipt", l["receipt"], ("received",), l.i):
            yield l, f"work of receipt {l['receipt']} before its commit"


def r6(h):
    """"receipts are keyed by delivery, operations by their declared key" """
    for l in h.by_fact["effect"]:
        born = "receipt" in l and h.last("receipt", l["receipt"], ("received",), l.i)
        if born and (born.of("reading")[0] != "event" or h.operation(born["reading"]["event"]) != l["op"]):
            yield l, f"receipt {l['receipt']} books operation {l['op']}, which is not its own"
    for l in h.by_fact["received"]:
        row = h.last("delivery", l["delivery"], ("fanned_out",), l.i)
        event = row and h.last("event", row["event"], ("committed",), l.i)
        kind, read = l.of("reading")
        if event and kind == "event" and l["body"] == event["body"] and any(
                read[f] != event[f] for f in ("entity", "type", "occurrence", "version")):
            yield l, f"receipt {l['receipt']} is read as another event than {event['event']}"
    for l in h.by_fact["differed"]:
        born = h.last("receipt", l["receipt"], ("received",), l.i)
        if born and not any(a.i < l.i and a.by == l.by and a["body"] == l["body"] and key_of(h, a) == key_of(h, born)
                            for a in h.by_fact["arrived"]):
            yield l, f"another delivery id is folded into receipt {l['receipt']}"
    for a, l in bare_acks(h):
        yield l, f"delivery id {a['id']} is folded into another receipt, or into none"


def r7(h):
    """"in no prefix of any history has an operation two effects, whoever caused them. The guard sits at the transition, in
    the transaction that books" """
    for l in h.lines:
        if l.fact in ("effect", "booked_by_hand") and (first := h.booked(l["op"], l.i)):
            yield l, f"operation {l['op']} has a second effect, beside line {first.n}"
        if l.fact == "external_call" and l["did"]:
            first = [x for x in h.index["op", l["op"]] if x.i < l.i and x.fact == "external_call" and x["did"]]
            if first:
                yield l, f"operation {l['op']} happens outside a second time, beside line {first[0].n}"
        if l.fact == "handler_ran" and l["outcome"] == "done":
            row = h.receipt(l["receipt"], l.i)
            op = row and row["event"] and h.operation(row["event"])
            if op and (first := h.booked(op, row["claim"].i if row["claim"] else l.i)):
                yield l, f"the handler runs for operation {op}, which was booked at line {first.n}"
    for l in h.by_fact["worked"]:
        row = h.receipt(l["receipt"], l.i)
        effects = [x for x in h.commit(l) if x.fact == "effect"]
        op = row and row["event"] and h.operation(row["event"])
        if l["verdict"] == "applied" and op and not effects:
            yield l, f"receipt {l['receipt']} is applied without its effect"
        if l["verdict"] != "applied" and effects:
            yield l, f"receipt {l['receipt']} is {l.of('verdict')[0]}, with an effect"
    for l in h.by_fact["effect"]:
        ends = [x for x in h.lines[l.i + 1:l.i + 8] if x.by == l.by and x.t == l.t]
        if "receipt" in l and not any(x.fact == "worked" and x["receipt"] == l["receipt"] for x in ends):
            yield l, f"an effect of receipt {l['receipt']} in a transaction of its own"


def r8(h):
    """"an event is a proposed transition; too early: deferred; overtaken: never overwrites newer state; impossible:
    quarantined; after every commit the state is one of the model's" """
    for l in h.by_fact["moved"]:
        table, (state, version) = h.table(l["entity"]), h.entity(l["entity"], l.i)
        if table and (l["from"] != state or l["to"] >= table["states"]):
            yield l, f"entity {l['entity']} moves from {l['from']} to {l['to']}, and stood in {state}"
        if table and table["order"] != "graph" and number(l["version"]) < version:
            yield l, f"entity {l['entity']} goes back from version {version} to {l['version']}"
        if not any(x.fact == "worked" for x in h.lines[l.i + 1:l.i + 8] if x.by == l.by and x.t == l.t):
            yield l, f"entity {l['entity']} moves for no receipt"
    for l in h.by_fact["worked"]:
        yield from verdict(h, l)


def verdict(h, l):
    """Whether what was done with an event is what its standing asks for."""
    row = h.receipt(l["receipt"], l.i)
    if not row or not row["event"] or not h.rule(row["event"]):
        return
    event, (done, more), r = row["event"], l.of("verdict"), l["receipt"]
    commit = h.commit(l)
    state, version = h.entity(event["entity"], commit[0].i)
    stand, rule, table = h.standing(event, state, version), h.rule(event), h.table(event["entity"])
    move = next((x for x in commit if x.fact == "moved"), None)
    fetched = [x for x in h.past("receipt", r, ("fetched",), l.i) if x["fence"] == l["fence"]]
    if done == "set_aside" and more in ("failing", "worker_lost") or fetched:
        return
    op = h.operation(event)
    booked = op and h.booked(op, commit[0].i)
    want = {"due": "already_booked" if booked else "applied", "late": "already_booked" if booked else "applied",
            "overtaken": "overtaken", "impossible": "set_aside", "early": "deferred", "equal": None}[stand]
    if booked and done == "already_booked" or row["done"] and done == "overtaken":
        pass   # a replay of what a ledger keeps already has nothing to keep
    elif stand == "early" and done == "set_aside" and more == "deferral_cap":
        pass
    elif want and done != want:
        yield l, f"receipt {r} is {done}, and its event is {stand}" + (", its operation booked" if booked else "")
    if stand == "impossible" and done == "set_aside" and more != "impossible":
        yield l, f"receipt {r} is set aside as {more}, and its event is impossible"
    if done in ("applied", "already_booked") and stand == "due":
        changes = rule["to"] != state or table["order"] != "graph"
        if changes and not move:
            yield l, f"receipt {r} is {done}, and its entity does not move"
        elif move and (move["entity"] != event["entity"] or move["to"] != rule["to"]
                       or (table["order"] != "graph" and number(move["version"]) != number(event["version"]))):
            yield l, f"receipt {r} moves its entity to {move['to']}, where its event leads to {rule['to']}"
    elif move:
        yield move, f"receipt {r} moves its entity, and its event is {stand}"


def r9(h):
    """"a deferral ends: applied as soon as its prerequisite is (in no state is it deferred, its prerequisite applied, and it
    not due), or dead-lettered at its cap; deferring is no failure and climbs no ladder" """
    timer, cap = h.inbox["defer_timer_ms"], h.inbox["defer_cap_ms"]
    for l in h.by_fact["worked"]:
        done, more = l.of("verdict")
        row = h.receipt(l["receipt"], l.i)
        if not row:
            continue
        if done == "deferred" and more["timer_ms"] > more["cap_ms"]:
            yield l, f"receipt {l['receipt']} is deferred past its cap"
        if done == "deferred" and (more["timer_ms"] > timer * 1.05 + 1 or more["cap_ms"] > cap):
            yield l, f"receipt {l['receipt']} is deferred for longer than the inbox says"
        last, claim, db = row["due"], row["claim"], "receiver db"
        if done == "deferred" and row["cap"] is not None and last.fact in ("worked", "woken") and claim:
            last = h.last("receipt", l["receipt"], ("worked",), l.i)
        if done == "deferred" and row["cap"] is not None and claim and last.fact == "worked" and not h.between(last.i, l.i, ("clock_jumped",)) \
                and claim.t > last.t + row["cap"] + SLACK:
            yield l, f"receipt {l['receipt']} is deferred past its cap"
        if done == "deferred" and row["cap"] is not None and more["cap_ms"] > row["cap"] and row["deferred"]:
            if not h.between(row["deferred"].i, l.i, ("clock_jumped", "restored")):
                yield l, f"the cap of receipt {l['receipt']} begins anew"
        if done == "set_aside" and more == "deferral_cap":
            since = row["deferred"]
            if not since or (l.t - since.t < cap - SLACK and not h.between(since.i, l.i, ("clock_jumped",))):
                yield l, f"receipt {l['receipt']} is set aside before its cap"
        if row["event"] and h.rule(row["event"]) and done in ("overtaken", "set_aside"):
            first = h.commit(l)[0].i
            stand = h.standing(row["event"], *h.entity(row["event"]["entity"], first))
            fetched = [x for x in h.past("receipt", l["receipt"], ("fetched",), l.i) if x["fence"] == l["fence"]]
            if stand == "early" and not fetched and more not in ("deferral_cap", "failing", "worker_lost"):
                yield l, f"receipt {l['receipt']} comes too early, and is {done}"
    for l in h.by_fact["moved"]:
        ends = next((x for x in h.lines[l.i + 1:l.i + 8] if x.by == l.by and x.t == l.t and x.fact == "worked"), l)
        commit = h.commit(ends) if ends is not l else [l]
        for r in [x["receipt"] for x in h.by_fact["received"] if x.i < l.i and x.of("reading")[0] == "event"
                  and x["reading"]["event"]["entity"] == l["entity"]]:
            row = h.receipt(r, l.i)
            if not row or row["stand"] != "deferred" or row["claim"] or not row["wait"] or r == ends.get("receipt"):
                continue
            if any(x.fact == "woken" and x["receipt"] == r for x in commit):
                continue
            if h.rule(row["event"]) and h.standing(row["event"], l["to"], number(l["version"])) not in ("early",) \
                    and l.t < row["due"].t + row["wait"] - abs(h.clock("receiver db", l.i) - h.clock("receiver db", row["due"].i)):
                yield commit[-1], f"receipt {r} is deferred, its prerequisite applied, and it sleeps on"
    if h.ended:
        for l in h.by_fact["receipt_stands"]:
            if l.of("stand")[0] == "deferred":
                yield l, f"receipt {l['receipt']} is deferred for ever"


def r10(h):
    """"a failing event climbs the inbox ladder to the dead letters; it never delays an event that does not depend on it; a
    fault of the infrastructure pauses the worker and climbs nothing" """
    ladder = h.inbox["ladder_ms"]
    for l in h.lines:
        if l.fact in ("worked", "work_failed"):
            row = h.receipt(l["receipt"], l.i)
            mine = row and row["claim"] and row["claim"]["fence"] == l["fence"]
            if not mine or row["claim"].by != l.by and l.get("verdict") != {"set_aside": "worker_lost"}:
                yield l, f"receipt {l['receipt']} is worked under claim {l['fence']}, which is not its claim"
                continue
            ran = [x for x in h.lines[row["claim"].i:l.i] if x.fact == "handler_ran" and x["receipt"] == l["receipt"] and x.by == l.by]
            if l.fact == "worked" and l["verdict"] == "applied" and ran and ran[-1]["outcome"] != "done":
                yield l, f"receipt {l['receipt']} is applied, and its handler failed"
            if l.fact == "work_failed":
                infra = l["fault"] == "infrastructure"
                if not infra and not any(x["outcome"] == "failed" for x in ran):
                    yield l, f"receipt {l['receipt']} climbs for a fault of the infrastructure"
                if not infra and l["strike"] != row["strike"]:
                    yield l, f"receipt {l['receipt']} has strike {l['strike']} after {row['strike']}"
                if infra and l["strike"] >= row["strike"] and l["strike"] > 0:
                    yield l, f"receipt {l['receipt']} climbs for a fault of the infrastructure"
                if not infra and l["strike"] > len(ladder):
                    yield l, f"receipt {l['receipt']} goes on behind the last rung"
                elif not infra and not ladder[l["strike"] - 1] <= l["wait_ms"] <= ladder[l["strike"] - 1] * 1.05 + 1:
                    yield l, f"receipt {l['receipt']} waits {l['wait_ms']} ms where its ladder says {ladder[l['strike'] - 1]}"
            if l.fact == "worked" and l.of("verdict") in (("set_aside", "failing"), ("set_aside", "worker_lost")) \
                    and row["strike"] <= len(ladder):
                yield l, f"receipt {l['receipt']} is set aside on strike {row['strike']} of {len(ladder) + 1}"
        if l.fact == "work_claimed":
            row = h.receipt(l["receipt"], l.i)
            if row and l["strike"] != row["strike"] + 1:
                yield l, f"receipt {l['receipt']} is claimed with strike {l['strike']} after {row['strike']}"
            if row and row["stand"] in FINAL:
                yield l, f"receipt {l['receipt']} is claimed, and is {row['stand']}"
            if row and not row["claim"] and l.t + max(h.clock("receiver db", i) for i in range(max(0, l.i - 40), l.i + 1)) \
                    < row["due"].t - 2 * h.poll - h.inbox["work_limit_ms"] + row["wait"] + min(h.clock("receiver db", i) for i in range(max(0, row["due"].i - 40), row["due"].i + 1)):
                yield l, f"receipt {l['receipt']} is claimed before its wait is over"
    yield from waits(h)
    if h.ended:
        for l in h.by_fact["receipt_stands"]:
            if l.of("stand")[0] in ("queued", "retrying"):
                yield l, f"receipt {l['receipt']} is still {l.of('stand')[0]}"


def waits(h):
    """Where a due receipt waits longer than a poll and a claim's limit, though nothing but other receipts stood in its way."""
    room, trouble = 2 * h.poll + h.inbox["work_limit_ms"] + h.inbox["pause_ms"], troubles(h, "worker", "receiver db")
    for l in h.lines:
        if l.fact not in ("received", "worked", "work_failed", "woken", "replayed") or not h.alive(l, h.end):
            continue
        row = h.receipt(l["receipt"], l.i + 1)
        if not row or row["claim"] or row["stand"] not in ("queued", "deferred", "retrying"):
            continue
        due = h.reads("receiver db", row["due"]) + row["wait"]   # on its clock
        for x in h.lines[l.i + 1:]:
            if x.get("receipt") == l["receipt"] and x.fact in ("work_claimed", "woken", "replayed", "purged", "receipt_stands"):
                break
            late = x.t - max(due - h.clock("receiver db", x.i), row["due"].t)
            if late > room and x.t > max([t for i, t in trouble if i <= x.i], default=0) + room:
                yield x, f"receipt {l['receipt']} has been due for {late} ms, and nobody works on it"
                break


def r11(h):
    """"a dead letter keeps the event's reference, the reason and who waits for it; the alert commits with it and is sent at
    least once; failed deliveries of the sender raise one too" """
    for l in h.lines:
        reason = None
        if l.fact == "worked" and l.of("verdict")[0] == "set_aside":
            reason, key = l["verdict"]["set_aside"], "receipt"
        if l.fact == "received" and l.of("reading")[0] == "unreadable":
            reason, key = "unreadable", "receipt"
        if l.fact in ("settled", "closed") and l.of("stand")[0] == "failed":
            reason, key = "", "delivery"
        if reason is not None:
            commit = h.commit(l)
            letter = [x for x in commit if x.fact == "dead_lettered" and x.get(key) == l[key]]
            if not letter or (reason and letter[0]["reason"] != reason):
                yield l, f"{key} {l[key]} is set aside without a dead letter of its reason"
            if not any(x.fact == "alerted" and x.get(key) == l[key] for x in commit):
                yield l, f"{key} {l[key]} is set aside without an alert"
        if l.fact == "alerted" and l.i and not any(x.fact == "dead_lettered" and x["about"] == l["about"] and x.t == l.t and x.by == l.by
                                                   for x in h.lines[max(0, l.i - 6):l.i]):
            yield l, f"an alert about {l['about']}, and no dead letter with it"
        if l.fact == "dead_lettered" and l["reason"] == "none":
            yield l, "a dead letter without a reason"
    if h.ended:
        for l in h.by_fact["alerted"]:
            side = "sender" if "delivery" in l["about"] and l.kind != "effect relay" else "receiver"
            undone = any(b < l.i < r for b, r in h.undo[side])
            if not undone and not any(x.i > l.i and x["about"] == l["about"] for x in h.by_fact["alert_sent"]):
                if "receipt" in l and not h.receipt(l["receipt"], h.end):
                    continue
                yield h.lines[-1], f"the alert of {l['about']} was never sent"


def r12(h):
    """"a replay enters at work, not at receipt. It checks that source and account are still authorised, the secret not
    revoked, this person allowed, then the state guard. It runs again each time it is asked" """
    for l in h.by_fact["replayed"]:
        r, row = l["receipt"], h.receipt(l["receipt"], l.i)
        audit = h.lines[l.i - 1] if l.i else None
        if l["answer"] == "accepted" and not (audit is not None and audit.fact == "audited" and audit.get("receipt") == r
                                              and audit["person"] == l["person"]):
            yield l, f"a replay of receipt {r} leaves no audit line"
        if l["answer"] != "refused" and not l["allowed"]:
            yield l, f"a replay of receipt {r} is {l['answer']}, and was not allowed"
        if l["answer"] == "waiting" and row and row["stand"] in FINAL:
            yield l, f"a replay of receipt {r} is told to wait, and it is {row['stand']}"
        if l["answer"] == "accepted" and h.ended and h.alive(l, h.end):
            if not any(x.i > l.i and x.fact in ("work_claimed", "purged") for x in h.index["receipt", r]):
                yield l, f"a replay of receipt {r} came to nothing"


def r13(h):
    """"*received* and *processed* are separate, one state each …, equal to what the history says" """
    for l in h.by_fact["receipt_stands"]:
        row = h.receipt(l["receipt"], l.i)
        if not row or row["stand"] != l.of("stand")[0]:
            yield l, f"receipt {l['receipt']} stands {l.of('stand')[0]}, and was {row['stand'] if row else 'not there'}"
    for l in h.by_fact["entity_stands"]:
        state, version = h.entity(l["entity"], l.i)
        if h.table(l["entity"]) and (l["state"], number(l["version"])) != (state, version):
            yield l, f"entity {l['entity']} stands in state {l['state']}, and was in {state}"
    for l in h.by_fact["worked"]:
        if l["verdict"] == "already_booked":
            row = h.receipt(l["receipt"], l.i)
            op = row and row["event"] and h.operation(row["event"])
            if row and row["event"] and h.rule(row["event"]) and not (op and h.booked(op, l.i)):
                yield l, f"receipt {l['receipt']} is called booked already, and its operation is not"
        row = h.receipt(l["receipt"], l.i)
        if row and row["event"] and l["verdict"] == "overtaken" and not row["done"] and (op := h.operation(row["event"])) and h.booked(op, l.i):
            yield l, f"receipt {l['receipt']} is called overtaken, and its operation is booked"
        if row and row["event"] and (op := h.operation(row["event"])) and l["verdict"] == "applied":
            ran = [x for x in h.index["receipt", l["receipt"]] if x.fact == "handler_ran" and x.i < l.i and x.by == l.by
                   and row["claim"] and x.i > row["claim"].i]
            if not ran:
                yield l, f"receipt {l['receipt']} is applied, and its handler never ran"


def r14(h):
    """"an effect outside carries a key made from the operation (the same on replay) and is done once where that service
    honours the key for longer than our horizon" """
    keys, done = {}, {}
    for l in h.by_fact["external_call"]:
        op = l["op"]
        if l["key"] is None:
            yield l, f"a call for operation {op} shows no key"
        elif keys.setdefault(op, l["key"]) != l["key"]:
            yield l, f"a call for operation {op} shows another key than before"
        elif any(k == l["key"] and o != op for o, k in keys.items()):
            yield l, f"a call for operation {op} shows the key of another"
        if l["did"]:
            if op in done:
                yield l, f"operation {op} is done outside twice"
            done[op] = l
    if h.ended:
        for l in h.by_fact["effect"]:
            born = "receipt" in l and h.last("receipt", l["receipt"], ("received",), l.i)
            rule = born and born.of("reading")[0] == "event" and h.rule(born["reading"]["event"])
            if rule and rule.get("external") and h.alive(l, h.end) and l["op"] not in done \
                    and not any(x.kind == "effect relay" for x in h.by_fact["dead_lettered"]):
                yield h.lines[-1], f"operation {l['op']} was never done outside"


def r15(h):
    """"a ledger keeps every event in the declared order; a latest-state view takes the newest by declared version. A
    refetch … never overwrites newer state" """
    for l in h.by_fact["worked"]:
        row, commit = h.receipt(l["receipt"], l.i), h.commit(l)
        if not row or not row["event"] or not h.rule(row["event"]):
            continue
        table = h.table(row["event"]["entity"])
        if table["kind"] == "ledger" and table["order"] != "graph" and l["verdict"] == "overtaken" and not row["done"]:
            yield l, f"a ledger drops receipt {l['receipt']}"
        fetched = [x for x in h.past("receipt", l["receipt"], ("fetched",), l.i) if x["fence"] == l["fence"]]
        move = next((x for x in commit if x.fact == "moved"), None)
        if fetched and move and table["order"] != "graph":
            if number(move["version"]) < h.entity(move["entity"], move.i)[1]:
                yield move, f"a refetch overwrites entity {move['entity']} with an older version"


def r16(h):
    """"keys outlive the sum of waits and jitter, attempts × (limit + Retry-After clamp), the resend window and twice the
    skew; a shorter retention is refused when configured. Never purged: anything not done, operation keys" """
    p, keep = h.profile, h.inbox["retention_ms"]
    need = sum(p["ladder_ms"]) * 1.05 + (len(p["ladder_ms"]) + 1) * (p["time_limit_ms"] + p["retry_after_max_ms"]) \
        + p["resend_window_ms"] + 2 * h.skew
    if keep is not None and keep < need and h.by_fact["purged"]:
        yield h.by_fact["purged"][0], f"keys are kept for {keep} ms, and have to be for {need}"
    for l in h.by_fact["purged"]:
        row = h.receipt(l["receipt"], l.i)
        if not row:
            yield l, f"receipt {l['receipt']} is purged, and was not there"
        elif row["stand"] not in FINAL - {"in_review"}:
            yield l, f"receipt {l['receipt']} is purged, and is {row['stand']}"
        elif keep is None:
            yield l, f"receipt {l['receipt']} is purged, and keys are kept for ever"
        elif l.t - row["born"].t < min(keep, need) and not h.between(row["born"].i, l.i, ("clock_jumped",)):
            yield l, f"receipt {l['receipt']} is purged after {l.t - row['born'].t} ms"


def r17(h):
    """"source and account come from the path and the secret that verified; the id from bytes that the signature covers" """
    for l in h.by_fact["received"]:
        came = [a for a in h.past("delivery", l["delivery"], ("arrived",), l.i) if a.by == l.by and a["body"] == l["body"]]
        if came and not any(a["id"] == l["id"] for a in came):
            yield l, f"receipt {l['receipt']} is kept by id {l['id']}, which nothing signed shows"
        row = h.last("delivery", l["delivery"], ("fanned_out",), l.i)
        if row and row["id"] != l["id"] and not h.undo["sender"]:
            yield l, f"receipt {l['receipt']} is kept by id {l['id']}, and its delivery has {row['id']}"
    for a, l in h.requests:
        if a and l and a["authentic"] == "foreign" and h.acks(l["status"]) and not h.hit(a, l):
            yield l, f"delivery {a['delivery']} is vouched for by another account's secret, and acknowledged"
    for l in h.by_fact["received"]:
        came = [a for a in h.past("delivery", l["delivery"], ("arrived",), l.i) if a.by == l.by and a["body"] == l["body"]]
        if came and all(a["authentic"] == "foreign" for a in came):
            yield l, f"receipt {l['receipt']} is vouched for by another account's secret"


def r18(h):
    """"status, body, deadline and handshakes are the source's; 2xx is the default" """
    for l in h.by_fact["greeted"]:
        if l["echo"] != l["nonce"] or not h.acks(l["status"]):
            yield l, f"the handshake of endpoint {l['endpoint']} is answered {l['status']} with {l['echo']}"
    for a, l in h.requests:
        if a and l and 200 <= l["status"] < 300 and not h.acks(l["status"]):
            yield l, f"answered {l['status']} where the source counts 200 alone"
        if a and l and l.t - a.t > h.profile["time_limit_ms"] and not h.hit(a, l, late=True):
            yield l, f"answered after {l.t - a.t} ms"


def r19(h):
    """"an unknown type is acknowledged and recorded as ignored, never 4xx; authentic but unparseable: receipt,
    acknowledgement, quarantine; same id with other bytes: the first wins, the difference is recorded" """
    for a, l in h.requests:
        if a and l and a["authentic"] == "yes" and not h.acks(l["status"]) and not h.hit(a, l):
            yield l, f"delivery {a['delivery']} is authentic, nothing is in its way, and it is answered {l['status']}"
        if a and l and a["authentic"] == "yes" and h.acks(l["status"]):
            kept = receipts_of(h, key_of(h, a), l.i)
            if kept and kept[0]["body"] != a["body"] and not h.between(kept[0].i, l.i, ("restored",)):
                notes = [d for d in h.past("receipt", kept[0]["receipt"], ("differed",), l.i) if d["body"] == a["body"]]
                if not notes:
                    yield l, f"other bytes of receipt {kept[0]['receipt']} are acknowledged, and not recorded"
    for l in h.by_fact["received"]:
        for other in h.past("receipt", l["receipt"], ("received",), l.i):
            if other["body"] != l["body"]:
                yield l, f"the first bytes of receipt {l['receipt']} are overwritten"


def r20(h):
    """"any arrival order and multiplicity of the same events ends in the same entity state and the same set of effects" """
    if not h.ended:
        return
    for s in h.by_fact["entity_stands"]:
        table, e = h.table(s["entity"]), s["entity"]
        if not table:
            continue
        events, fetched = [], [x for x in h.index["entity", e] if x.fact == "fetched"]
        for l in h.by_fact["received"]:
            row = h.receipt(l["receipt"], s.i) if h.alive(l, s.i) else None
            if row and row["event"] and row["event"]["entity"] == e and h.rule(row["event"]) \
                    and row["stand"] in ("applied", "already_booked", "overtaken"):
                events.append(row["event"])
        purged = any(p for p in h.by_fact["purged"])
        if fetched or purged or h.undo["receiver"]:
            continue   # what another source said, or is no longer there, cannot be played again
        state = version = 0
        todo, going = sorted(events, key=lambda x: (str(type(x["version"])), x["version"])), True
        while going:
            going = False
            for event in list(todo):
                if h.standing(event, state, version) == "due":
                    todo.remove(event)
                    state, going = h.rule(event)["to"], True
                    version = number(event["version"]) if table["order"] != "graph" else version
        if s["state"] != state:
            yield s, f"entity {e} stands in state {s['state']}, and its events lead to {state}"
    for l in h.by_fact["receipt_stands"]:
        row = h.receipt(l["receipt"], l.i)
        op = row and row["event"] and h.operation(row["event"])
        if op and l.of("stand")[0] in ("applied", "already_booked") and not h.booked(op, l.i):
            yield l, f"receipt {l['receipt']} is {l.of('stand')[0]}, and its operation has no effect"


def e1(h):
    """"when faults have stopped and timers have run out, every committed event is, per delivery, in exactly one end.
    Effects caused by the delivery: 1 if applied; 0 if already booked, overtaken or ignored. Nothing leased, nothing due" """
    if not h.ended:
        return
    end = h.lines[-1]
    for c in h.by_fact["committed"]:
        if h.alive(c, h.end) and not h.past("event", c["event"], ("fan_out_done",), h.end):
            yield end, f"event {c['event']} was never fanned out"
    stands = {l["delivery"]: l for l in h.by_fact["delivery_stands"]}
    kept = {l["receipt"]: l for l in h.by_fact["receipt_stands"]}
    for l in h.by_fact["delivery_stands"] + h.by_fact["receipt_stands"]:
        name = f"delivery {l['delivery']}" if "delivery" in l else f"receipt {l['receipt']}"
        active = "delivery" not in l or not (row := h.delivery(l["delivery"], l.i)) or h.endpoint(row["endpoint"], l.i)[1]
        if l["due"] and active:
            yield l, f"{name} is due"
        if l.of("stand")[0] in ("queued", "deferred", "retrying") or l.of("stand")[0] in ("waiting", "claimed") and active:
            yield l, f"{name} is stuck: {l.of('stand')[0]}"
    excused = any(f["family"] in ("early_ack", "foreign_ack") for f in h.by_fact["fault"]) or h.undo["receiver"] or h.undo["sender"]
    for f in h.by_fact["fanned_out"]:
        if not h.alive(f, h.end):
            continue
        d = f["delivery"]
        if d not in stands:
            yield end, f"delivery {d} is in no end"
        elif stands[d]["stand"] == "acknowledged" and not excused:
            if not [l for l in h.by_fact["received"] if key_of(h, l) == (f["endpoint"], str(f["id"]))]:
                yield stands[d], f"delivery {d} is acknowledged, and absent"
    for r, l in kept.items():
        row, stand = h.receipt(r, l.i), l.of("stand")[0]
        caused = [x for x in h.by_fact["effect"] if x.get("receipt") == r and h.alive(x, h.end) and row and x.i > row["born"].i]
        op = row and row["event"] and h.operation(row["event"])
        replays = [x for x in h.index["receipt", r] if x.fact == "replayed" and x["answer"] == "accepted"]
        wrong = stand == "applied" and len(caused) != (1 if op else 0) or len(caused) > 1 \
            or stand in ("already_booked", "overtaken", "ignored") and caused and not replays
        if wrong:
            yield l, f"receipt {r} is {stand}, and caused {len(caused)} effects"


PROMISES = {f.__name__.upper(): f for f in (s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15, r1, r2, r3, r4, r5,
                                            r6, r7, r8, r9, r10, r11, r12, r13, r14, r15, r16, r17, r18, r19, r20, e1)}


def judge(text, strict=False):
    """The first breach of each promise, or None."""
    h = History(text)
    out = {}
    for name, check in PROMISES.items():
        breaches = sorted(((b[0].n, b[1]) for b in check(h) if strict or ROOM not in b[2:]), key=lambda b: b[0])
        out[name] = {"line": breaches[0][0], "what": breaches[0][1]} if breaches else None
    return out


def main():
    files, strict = [], "--strict" in sys.argv
    for name in (a for a in sys.argv[1:] if a != "--strict"):
        with open(name, encoding="utf-8") as f:
            found = judge(f.read(), strict)
        files.append({"file": name, "promises": [dict(id=p, verdict="fail" if b else "pass", **({"breach": b} if b else {}))
                                                  for p, b in found.items()]})
    print(json.dumps({"histories": files}, ensure_ascii=False))
    sys.exit(any(p["verdict"] == "fail" for f in files for p in f["promises"]))


if __name__ == "__main__":
    main()
