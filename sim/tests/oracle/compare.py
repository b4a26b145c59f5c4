#!/usr/bin/env python3
"""Holds the two oracles against each other: `hookproof judge` and oracle.py.

    python3 compare.py HOOKPROOF [--seeds N] [--rogue-seeds N] [--tampered N] [--first-seed S] [--kinds]

1. Histories of the correct code: no promise is broken, both say.
2. Histories of each rogue: where the first says that a promise is broken, so does the second, at that place or before
   it. The first stops at its first breach and writes the history no further, so the second has the same lines to read.
3. Correct histories of which one line was tampered with (dropped, doubled, swapped with the next, a number or a word
   changed): where one says broken, so does the other; what differs is counted by kind, and the kinds that README.md
   explains are allowed.

--kinds prints what differed, kind by kind, with an example. Exit code 0: as agreed; 1: something new.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracle  # noqa: E402

# Breaches that the second tells earlier than the first, which waits for what comes of them (README.md, "Earlier").
EARLIER = {"R2", "R7", "R8", "R10", "R13", "S2", "S6", "S8"}
# Seeds at which the rarer rogues break something: tried first, to be quick, and any other will do.
HINTS = {"zombie-settles": 31, "zombie-releases": 530, "no-fence-on-failure": 326, "fan-out-half": 1, "queues-in-memory": 62,
         "defers-for-ever": 16, "retry-after-stalls-worker": 69, "check-then-insert": 65, "acks-open-duplicate": 65, "zombie-works": 55,
         "replay-skips-guard": 17}
# How much of the tampered files may be told broken by one alone (README.md, "Tampered").
ALONE_FIRST, ALONE_SECOND = 0.08, 0.09


def run(binary, *args):
    return subprocess.run([binary, *args], capture_output=True, text=True)


def write(binary, seed, path, rogue=None):
    """Writes a history, and says whether a promise is broken in it."""
    args = ["prove", "--seed", str(seed), "--history", path] + (["--rogue", rogue] if rogue else [])
    return " is broken after " in run(binary, *args).stdout


def judge_first(binary, paths):
    """The first oracle's breach of each file: None if it has none, False if it does not read the file."""
    found = {}
    for k in range(0, len(paths), 200):
        part = paths[k:k + 200]
        out = run(binary, "judge", "--json", *part)
        if not out.stdout.strip():
            if len(part) == 1:
                found[part[0]] = False
            else:
                for path in part:
                    found.update(judge_first(binary, [path]))
            continue
        for h in json.loads(out.stdout)["histories"]:
            fails = [p["breach"] for p in h.get("promises", []) if p["verdict"] == "fail"]
            found[h["file"]] = fails[0] if fails else (None if h.get("verdict") == "pass" else False)
    return found


def judge_second(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return {p: b for p, b in oracle.judge(text).items() if b}, text.splitlines()


def place(lines, n):
    """A commit is one place, and so is the end."""
    fact = json.loads(lines[n - 1])
    if fact["fact"].endswith("_stands") or fact["fact"] == "ended":
        return len(lines)
    while n > 2 and (before := json.loads(lines[n - 2]))["by"] == fact["by"] and before["at_ms"] == fact["at_ms"]:
        n -= 1
    return n


def compare_breach(first, second, lines):
    """How the first breach of the first oracle looks to the second."""
    if not second:
        return "missed by the second"
    at = place(lines, first["line"])
    early = {p for p, b in second.items() if place(lines, b["line"]) < at and b["line"] + 1 < first["line"]}
    if early:
        return "earlier" if early <= EARLIER else "earlier, and new"
    if first["promise"] in second:
        return "the same promise"
    return "another promise at that place" if any(place(lines, b["line"]) <= at + 1 for b in second.values()) else "elsewhere"


def tamper(rng, lines):
    """One line of a history changed."""
    i = rng.randrange(1, len(lines) - 1)
    how, out = rng.choice(["drop", "double", "swap", "number", "number", "word"]), list(lines)
    fact = json.loads(lines[i])
    if how == "drop":
        del out[i]
    elif how == "double":
        out.insert(i, lines[i])
    elif how == "swap":
        out[i], out[i + 1] = out[i + 1], out[i]
    else:
        places = []

        def walk(value, at):
            for key, v in value.items():
                if isinstance(v, dict):
                    walk(v, at + [key])
                elif how == "number" and isinstance(v, int) and not isinstance(v, bool) and key not in ("at_ms", "by_ms"):
                    places.append(at + [key])
                elif how == "word" and (isinstance(v, bool) or isinstance(v, str) and key in WORDS):
                    places.append(at + [key])
        walk(fact, [])
        if not places:
            return None
        *at, key = rng.choice(places)
        holder = fact
        for step in at:
            holder = holder[step]
        old = holder[key]
        holder[key] = not old if isinstance(old, bool) else rng.choice([w for w in WORDS[key] if w != old]) if how == "word" \
            else max(0, old + rng.choice([-1, 1, 1, 1000]))
        out[i] = json.dumps(fact, separators=(",", ":"))
        how = f"{how} {key}"
    times = [json.loads(line)["at_ms"] for line in out[i:i + 2]]
    return (how, fact["fact"], i + 1, out) if times == sorted(times) else None


WORDS = {"answer": ["accepted", "duplicate", "key_reused", "failed"], "address": ["vetted", "other"],
         "outcome": ["acknowledged", "unknown", "denied"], "authentic": ["yes", "forged", "foreign", "outlived", "stale"],
         "verdict": ["applied", "already_booked", "overtaken"], "reason": ["exhausted", "unanswered", "failing", "impossible", "none"],
         "life": ["retired", "gone", "revoked", "paused", "resumed", "deleted"], "stand": ["acknowledged", "applied", "queued"]}


def correct(binary, folder, seeds, first_seed):
    paths, bad = [], []
    for seed in range(first_seed, first_seed + seeds):
        path = os.path.join(folder, f"correct-{seed}.jsonl")
        write(binary, seed, path)
        paths.append(path)
    first = judge_first(binary, paths)
    for path in paths:
        second, _ = judge_second(path)
        if first[path] is not None or second:
            bad.append((os.path.basename(path), first[path], second))
    return paths, bad


def rogues(binary, folder, each):
    names = [line.split()[0] for line in run(binary, "rogues").stdout.splitlines() if line and line[0] != " "]
    found, kinds, examples, short = 0, Counter(), {}, []
    for name in names:
        paths = []
        for seed in ([HINTS[name]] if name in HINTS else []) + [s for s in range(1500) if s != HINTS.get(name)]:
            if len(paths) >= each:
                break
            path = os.path.join(folder, f"{name}-{seed}.jsonl")
            if write(binary, seed, path, name) and os.path.getsize(path) < 600_000:
                paths.append(path)
            else:
                os.remove(path)
        if not paths:
            short.append(name)
        first = judge_first(binary, paths)
        for path in paths:
            second, lines = judge_second(path)
            kind = compare_breach(first[path], second, lines) if first[path] else "not broken in the file"
            kinds[kind] += 1
            found += 1
            examples.setdefault(kind, []).append((os.path.basename(path), first[path], second))
            os.remove(path)
    return found, kinds, examples, short


def tampered(binary, folder, sources, number, seed):
    rng, paths = random.Random(seed), []
    texts = [open(path, encoding="utf-8").read().splitlines() for path in sources]
    texts = [t for t in texts if len(t) < 700]
    while len(paths) < number:
        made = tamper(rng, rng.choice(texts))
        if made:
            path = os.path.join(folder, f"tampered-{len(paths)}.jsonl")
            with open(path, "w", encoding="utf-8") as f:
                f.write("\n".join(made[3]) + "\n")
            paths.append((path, *made[:3]))
    first = judge_first(binary, [p for p, *_ in paths])
    count, kinds = Counter(), defaultdict(list)
    for path, how, fact, n in paths:
        if first[path] is False:
            count["refused"] += 1
            continue
        try:
            second, lines = judge_second(path)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            second, lines = {"not read": {"line": n, "what": repr(error)}}, []
        one = first[path]
        if one is None and not second:
            count["both pass"] += 1
        elif one and second:
            count["both broken"] += 1
            count["both broken, and the first's promise is among the second's"] += one["promise"] in second
        else:
            who = "only the first" if one else "only the second"
            count[who] += 1
            promise = one["promise"] if one else "/".join(sorted(second))
            what = one["what"] if one else next(iter(second.values()))["what"]
            kinds[who, fact, how, promise].append((os.path.basename(path), n, re.sub(r"\d+", "N", what)))
    return count, kinds


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("--seeds", type=int, default=60)
    p.add_argument("--first-seed", type=int, default=0)
    p.add_argument("--rogue-seeds", type=int, default=1)
    p.add_argument("--tampered", type=int, default=300)
    p.add_argument("--kinds", action="store_true")
    p.add_argument("--keep", help="write the files there, and leave them")
    a = p.parse_args()
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        folder = a.keep or folder
        paths, bad = correct(a.binary, folder, a.seeds, a.first_seed)
        print(f"correct   {len(paths)} histories, {len(paths) - len(bad)} of which both pass")
        for name, one, two in bad:
            fine = False
            print(f"  {name}: first {one}, second {two}")
        if a.rogue_seeds:
            found, kinds, examples, short = rogues(a.binary, folder, a.rogue_seeds)
            print(f"rogues    {found} histories: " + ", ".join(f"{n} {k}" for k, n in kinds.most_common()))
            for kind in examples:
                new = kind in ("missed by the second", "earlier, and new", "elsewhere", "not broken in the file")
                fine = fine and not new
                for name, one, two in examples[kind] if new or a.kinds and kind != "the same promise" else []:
                    print(f"  {kind}: {name}: first {one}, second {dict(list(two.items())[:3])}")
            if short:
                print(f"  not caught by any seed: {', '.join(short)}")
                fine = False
        if a.tampered:
            count, kinds = tampered(a.binary, folder, paths, a.tampered, a.first_seed)
            print(f"tampered  {a.tampered} files: " + ", ".join(f"{n} {k}" for k, n in count.most_common()))
            fine = fine and count["only the first"] <= ALONE_FIRST * a.tampered and count["only the second"] <= ALONE_SECOND * a.tampered
            if a.kinds:
                for key, some in sorted(kinds.items(), key=lambda x: (x[0][0], -len(x[1]))):
                    print(f"  {len(some):4} {' | '.join(key)}: {some[0]}")
    print("as agreed" if fine else "NOT as agreed")
    sys.exit(not fine)


if __name__ == "__main__":
    main()
