"""Draws the logs of a stolen key, and knows what was done with it because it did it."""

import json
from datetime import datetime, timedelta

KEYS = ("key", "first_use", "addresses", "objects", "bytes", "after_revocation")
#: By team: a network, an address within, and one just outside of it.
NETS = {
    "data": ("10.20.16.0/20", ["10.20.16.1", "10.20.31.254", "10.20.20.7"], "10.20.32.1"),
    "web": ("203.0.113.64/27", ["203.0.113.65", "203.0.113.94"], "203.0.113.96"),
    "ops": ("2001:db8:5::/48", ["2001:db8:5::9", "2001:db8:5:ffff::1"], "2001:db8:6::1"),
    "shop": ("198.51.100.0/25", ["198.51.100.3", "198.51.100.127"], "198.51.100.128"),
}
SPELLED = {"2001:db8:6::1": ["2001:db8:6::1", "2001:0db8:0006:0:0:0:0:1", "2001:DB8:6::0001"], "2001:db8:9::a": ["2001:db8:9::a", "2001:db8:9:0:0:0:0:A"]}


def draw(random):
    day = datetime(2026, random.randint(1, 12), random.randint(1, 28))
    at = lambda second: (day + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")
    teams = random.sample(list(NETS), 4)
    keys = [f"AK{number}" for number in random.sample(range(1000, 9999), 6)]
    owners = dict(zip(keys, [*teams, teams[0], teams[1]]))
    stolen = random.choice(keys[:4])
    team = owners[stolen]
    thieves = [NETS[team][2], "192.0.2.77", "2001:db8:9::a", random.choice(NETS[next(one for one in teams if one != team)][1])][: random.randint(3, 4)]
    revoked = 60_000 + random.randint(0, 999)
    moved = random.randint(30_000, 40_000)
    rows, foreign, late = [], [], 0
    paths = [f"/objects/{a}/{b}" for a in ("a", "b", "B") for b in random.sample(range(1, 120), 5)]

    def request(second, address, key, method, path, status, count):
        spelled = random.choice(SPELLED.get(address, [address]))
        rows.append((second, f"{at(second)} {spelled} {key} {method} {path} {status} {count}"))

    # In the open: every team at work, the stolen key among them; a visiting network for one part of the day.
    guest = random.choice([one for one in teams if one != team])
    for second in range(0, 86_400, 300):
        key = random.choice(keys)
        owner = owners[key]
        if key == stolen and second >= revoked:
            continue
        own = random.choice(NETS[owner][1])
        if owner == guest and moved <= second < moved + 20_000:
            own = "100.64.7.9"
        request(second, own, key, random.choice(["GET", "GET", "PUT"]), random.choice(paths), random.choice([200, 200, 206, 404, 403]), random.randint(0, 9999))
    # Others are only tried from elsewhere, or only after they were revoked.
    others = [key for key in keys if key != stolen]
    for _ in range(12):
        request(random.randint(0, 86_399), random.choice(["192.0.2.77", "192.0.2.78"]), random.choice(others), "GET", random.choice(paths), random.choice([401, 403, 403, 302]), random.randint(0, 99))
    old = others[-1]
    request(80_000, "192.0.2.80", old, "GET", "/objects/a/1", 200, 77)
    # The theft.
    begun = 41_000 + random.randint(0, 5000)
    for address in thieves[:2]:
        request(begun - random.randint(10, 500), address, stolen, "GET", random.choice(paths), random.choice([403, 500]), 10)
    seconds = sorted(random.sample(range(begun, revoked - 60), 22))
    for number, second in enumerate(seconds):
        address = thieves[number % len(thieves)]
        method = random.choice(["GET", "GET", "GET", "PUT", "HEAD"])
        path = random.choice([*paths, "/list", "/objectsx/1"])
        status = 200 if number == 0 else random.choice([200, 200, 206, 204, 304, 404, 403])
        count = 0 if method == "HEAD" or status in (204, 304) else random.randint(1, 99_999)
        asked = path + random.choice(["", "", "?part=2", "?v=/objects/x"])
        request(second, address, stolen, method, asked, status, count)
        if 200 <= status < 300:
            foreign.append((second, address, method, path, count))
    for place, second in enumerate([revoked, revoked + 1, revoked + 30, revoked + 200, revoked - 1]):
        address = NETS[team][1][0] if place == 2 else thieves[1]
        status = [200, 401, 200, 206, 403][place]
        request(second, address, stolen, "GET", paths[0], status, 50)
        late += status < 300
        if status < 300 and place != 2:
            foreign.append((second, address, "GET", paths[0], 50))
    rows.sort(key=lambda row: row[0])
    for place in random.sample(range(len(rows) - 3), 30):
        rows[place], rows[place + 2] = rows[place + 2], rows[place]
    answer = {
        "key": stolen,
        "first_use": at(foreign[0][0]),
        "addresses": len({one[1] for one in foreign}),
        "objects": sorted({one[3] for one in foreign if one[2] == "GET" and one[4] and one[3].startswith("/objects/")}),
        "bytes": sum(one[4] for one in foreign),
        "after_revocation": late,
    }
    book = [(-90_000, f"issued {key} to {owner}") for key, owner in owners.items()]
    book += [(revoked, f"revoked {stolen}"), (79_000, f"revoked {old}"), (-100, "rotation finished")]
    nets = [f"{net[0]} {name}" for name, net in NETS.items() if name in teams]
    nets += [f"100.64.0.0/13 {guest} from {at(moved)} until {at(moved + 20_000)}", f"192.0.2.64/28 {team} until {at(-500)}"]
    random.shuffle(nets)
    text = lambda value: json.dumps(value, indent=2) + "\n"
    spellings = {row.split()[1] for _, row in rows if stolen in row}
    wrong = {
        "key": old, "first_use": at(seconds[0] - 600), "addresses": answer["addresses"] + 1, "objects": answer["objects"][::-1],
        "bytes": answer["bytes"] - foreign[-1][4], "after_revocation": late - 1,
    }
    return {
        "work": {
            "access.log": "".join(f"{row}\n" for _, row in rows),
            "keys.log": "".join(f"{at(second)} {words}\n" for second, words in sorted(book)),
            "networks.txt": "".join(f"{line}\n" for line in nets),
            "answer.json": text(dict.fromkeys(KEYS)),
        },
        "answer": answer,
        "gold": {"answer.json": text(answer)},
        **{f"wrong/{key}": {"answer.json": text({**answer, key: value})} for key, value in wrong.items()},
        "wrong/every_spelling": {"answer.json": text({**answer, "addresses": len(spellings) + len(thieves)})},
        "wrong/paths_with_questions": {"answer.json": text({**answer, "objects": [*answer["objects"], "/objects/a/1?part=2"]})},
        "wrong/more_keys": {"answer.json": text({**answer, "team": team})},
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


key, first_use, addresses, objects, bytes_sent, after_revocation = map(fact, KEYS)
