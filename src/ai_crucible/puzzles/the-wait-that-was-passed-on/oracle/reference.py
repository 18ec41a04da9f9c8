"""Draws the traces of a day, and knows what was slow because it made it so."""

import json
from statistics import median

KEYS = ("service", "op", "version", "added_ms", "slow_traces", "repeated_calls", "clock_ms")
OPS = {"cart": ["price", "add"], "stock": ["count", "hold"], "users": ["whois", "rights"], "mail": ["render", "send"], "search": ["find", "rank"]}


def draw(random):
    services = list(OPS)
    random.shuffle(services)
    guilty, caller, decoy = services[:3]
    op, other_op = random.sample(OPS[guilty], 2)
    clocks = {"edge": 0, **{name: random.choice([-1, 1]) * random.randint(1500, 90_000) for name in services}}
    begun = random.randint(6, 18) * 3_600_000
    moment = begun + 600_000
    added = random.choice([310, 420, 530, 640])
    versions = iter(random.sample([f"v{a}.{b}.{c}" for a in range(1, 4) for b in range(10) for c in range(10)], 8))
    base = {(name, one): random.randint(5, 40) for name in OPS for one in OPS[name]}
    base[(decoy, OPS[decoy][0])] = 700
    spans, slow, repeats, every_slow, grown = [], 0, 0, 0, {"before": [], "after": []}
    used = iter(random.sample(range(16**6), 4000))
    name_of = lambda: f"{next(used):06x}"

    def record(trace, parent, service, one, start, children, own, attempt=1, ok=True):
        """Lay a span and those that it calls; return its length."""
        span = name_of()
        length, at = 0, start
        mine = None
        for child in children:
            took = child(trace, span, at + 1)
            at += 1 + took
            length += took
        total = length + own
        spans.append({"trace": trace, "span": span, "parent": parent, "service": service, "op": one, "start": start + clocks[service], "ms": total, "try": attempt, "ok": ok})
        return total

    def leaf(service, one, attempt=1, ok=True, own=None):
        def lay(trace, parent, start):
            nonlocal repeats
            mine = base[service, one] + random.randint(-2, 2) if own is None else own
            if (service, one) == (guilty, op):
                late = start > moment
                mine += added if late else 0
                grown["after" if late else "before"].append(mine)
                repeats += late and attempt > 1
                seen.append(late)
            return record(trace, parent, service, one, start, [], mine, attempt, ok)

        return lay

    def via(service, one, children):
        return lambda trace, parent, start: record(trace, parent, service, one, start, children, base[service, one] + random.randint(-2, 2))

    at = begun
    while at < begun + 1_200_000:
        seen = []
        calls = []
        for _ in range(random.randint(1, 3)):
            pick = random.random()
            if pick < 0.45:
                tries = random.choice([1, 1, 1, 2, 3])
                calls.append(via(caller, OPS[caller][0], [leaf(guilty, op, number, number == tries) for number in range(1, tries + 1)]))
            elif pick < 0.6:
                calls.append(leaf(guilty, other_op))
            elif pick < 0.75:
                calls.append(leaf(decoy, OPS[decoy][0]))
            else:
                name = random.choice(services[3:])
                calls.append(leaf(name, random.choice(OPS[name]), random.choice([1, 1, 2])))
        # What begins near the deployment may be on either side of it.
        near = moment - 8000 < at < moment + 8000
        if not near:
            total = record(name_of(), None, "edge", random.choice(["GET /", "POST /order", "GET /find"]), at, calls, random.randint(8, 15))
            every_slow += total >= 1000
            slow += total >= 1000 and any(seen)
        at += random.randint(3000, 12_000)
    spans_of_op = len(grown["after"])
    lines = [(begun - 40_000, guilty, next(versions)), (begun + 200_000, caller, next(versions)), (moment + 100_000, guilty, next(versions))]
    version = next(versions)
    early, late = lines[0][2], lines[2][2]
    lines += [(moment, guilty, version), (moment - 1500, caller, next(versions)), (moment + 1200, decoy, next(versions)), (moment + 300_000, services[4], next(versions))]
    random.shuffle(spans)
    difference = median(grown["after"]) - median(grown["before"])
    if difference != int(difference) or not slow or slow == every_slow or repeats < 2 or repeats == slow:
        return draw(random)
    answer = dict(zip(KEYS, (guilty, op, version, int(difference), slow, repeats, clocks[guilty])))
    text = lambda value: json.dumps(value, indent=2) + "\n"
    wrong = {
        "service": caller, "op": other_op, "version": random.choice([early, late]), "added_ms": int(difference) + random.choice([-5, 5]),
        "slow_traces": every_slow, "repeated_calls": spans_of_op, "clock_ms": -clocks[guilty],
    }
    return {
        "work": {
            "spans.jsonl": "".join(json.dumps(span) + "\n" for span in spans),
            "deploys.log": "".join(f"{when} {name} {number}\n" for when, name, number in sorted(lines)),
            "answer.json": text(dict.fromkeys(KEYS)),
        },
        "answer": answer,
        "gold": {"answer.json": text(answer)},
        **{f"wrong/{key}": {"answer.json": text({**answer, key: value})} for key, value in wrong.items()},
        "wrong/words_for_numbers": {"answer.json": text({key: str(value) for key, value in answer.items()})},
        "wrong/more_keys": {"answer.json": text({**answer, "note": ""})},
        "right/one_line": {"answer.json": json.dumps(answer)},
        "right/turned": {"answer.json": text(dict(reversed(answer.items())))},
        "right/indented": {"answer.json": json.dumps(answer, indent=8).replace("\n", "\r\n")},
    }


def fact(key):
    def look(data, drawn):
        seen = json.loads(data)
        if set(seen) != set(KEYS):
            return "its keys are not those that are asked for"
        right = seen[key] == drawn["answer"][key] and type(seen[key]) is type(drawn["answer"][key])
        return "" if right else f"{key} is not so"

    return look


service, op, version, added_ms, slow_traces, repeated_calls, clock_ms = map(fact, KEYS)
