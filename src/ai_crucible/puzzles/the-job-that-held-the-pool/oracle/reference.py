"""Right answers by a way of their own, and the inputs that they are asked for."""

import json
from datetime import datetime, timedelta, timezone

KEYS = ("host", "job", "change", "first_failed_request", "failed_requests", "held_since")


def utc(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def draw(random):
    """Return the logs of one outage, and what is true of it."""
    start = datetime(2026, random.randint(1, 12), random.randint(1, 28), random.randint(0, 23), random.randint(0, 59))
    hosts = random.sample(["alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple"], 5)
    jobs = random.sample(["reindex", "vacuum", "report", "mailout", "thumbnails", "export", "dedupe"], 4)
    host, other = hosts[:2]
    job, decoy = jobs[:2]
    offsets = {name: random.choice([-480, -300, -210, 60, 120, 330, 345, 540]) for name in hosts}
    opened, closed = 300 + random.randint(0, 60), 480 + random.randint(0, 60)
    ids = iter(random.sample([f"{number:05x}" for number in range(2**20)], 800))
    gateway, failed = [], []
    for second in range(0, 700):
        if random.random() < 0.25 and second not in (opened, closed):
            continue
        target, status = random.choice(hosts), 200
        if second in (opened, closed):
            target = host
        one, refused = next(ids), False
        if target == host and opened <= second <= closed and (second in (opened, closed) or random.random() < 0.8):
            status, refused = 502, True
        elif target == host and (second < opened or second > closed) and random.random() < 0.12:
            status = 502
        elif target == other and random.random() < 0.15:
            status = random.choice([502, 503, 504])
        elif target == host and opened <= second <= closed and random.random() < 0.5:
            status = 504
        at = start + timedelta(seconds=second, milliseconds=random.randint(0, 999))
        gateway.append(f"{at.isoformat(timespec='milliseconds')}Z gateway req={one} worker={target} status={status} ms={random.randint(3, 900)}")
        failed += [one] if refused else []
    held = start + timedelta(seconds=opened - random.randint(100, 290))
    lines = []

    def say(second, name, words):
        zone = timezone(timedelta(minutes=offsets[name]))
        at = (start + timedelta(seconds=second)).replace(tzinfo=timezone.utc).astimezone(zone)
        lines.append((second, f"{at.isoformat(timespec='seconds')} {name} {words}"))

    local = held.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(minutes=offsets[host])))
    say(opened, host, f"pool exhausted: 20 of 20 held, all by job={job}, oldest since {local.strftime('%H:%M:%S')}")
    say(closed, host, f"job={job} ended, 20 connections given back, pool open")
    say(opened - 200, host, f"pool at 20 of 20 for 40 ms, held by job={decoy} and requests, none refused")
    say(opened - 150, other, f"job={decoy} started")
    say(opened - 140, other, "upstream timeout, 3 requests lost")
    for _ in range(60):
        name = random.choice(hosts)
        words = random.choice([f"job={random.choice(jobs[1:])} started", f"pool {random.randint(1, 15)} of 20", "gc 31 ms", "request dropped: client went away", "worker process restarted after 1000 requests"])
        say(random.randint(0, 699), name, words)
    numbers = iter(random.sample(range(1000, 9999), 12))
    changes = []

    def change(second, words):
        number = f"CH-{next(numbers)}"
        changes.append((second, f"{utc(start + timedelta(seconds=second))} {number} {words}"))
        return number

    early = change(-9000, f"schedule job={job} on {host}")
    change(-7000, f"roll back {early}")
    change(-5000, f"schedule job={job} on {other}")
    change(-4000, f"schedule job={decoy} on {host}")
    true = change(-3000, random.choice([f"move job={job} to {host}", f"schedule job={job} on {host}"]))
    change(-2000, f"raise pool of {other} to 30")
    late = change(opened + 5, f"schedule job={job} on {host} with a smaller pool")
    change(closed + 60, f"roll back {true}")
    change(closed + 70, f"roll back {late}")
    answer = dict(zip(KEYS, (host, job, true, failed[0], len(failed), utc(held))))
    text = lambda value: json.dumps(value, indent=2) + "\n"
    wrong = {
        "host": other, "job": decoy, "change": random.choice([early, late]), "first_failed_request": failed[1],
        "failed_requests": sum(f"worker={host} status=502" in line for line in gateway), "held_since": local.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    turned = {key: answer[key] for key in reversed(KEYS)}
    return {
        "work": {
            "gateway.log": "\n".join(gateway) + "\n",
            "workers.log": "\n".join(line for _, line in sorted(lines)) + "\n",
            "changes.log": "\n".join(line for _, line in sorted(changes)) + "\n",
        },
        "answer": answer,
        "gold": {"answer.json": text(answer)},
        **{f"wrong/{key}": {"answer.json": text({**answer, key: value})} for key, value in wrong.items() if value != answer[key]},
        "wrong/every_failure": {"answer.json": text({**answer, "failed_requests": sum("status=200" not in line for line in gateway)})},
        "wrong/more_keys": {"answer.json": text({**answer, "note": "x"})},
        "right/one_line": {"answer.json": json.dumps(answer)},
        "right/turned": {"answer.json": text(turned)},
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


host, job, change = fact("host"), fact("job"), fact("change")
first_failed_request, failed_requests, held_since = fact("first_failed_request"), fact("failed_requests"), fact("held_since")
