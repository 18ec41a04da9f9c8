"""Draws the configuration of a machine, line by line in two forms: as it was found, and as it has to be."""

import json

LISTING = """
import json, os
seen = {}
for folder, _, names in os.walk("etc"):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            seen[path] = "a link" if os.path.islink(path) else file.read().hex()
print(json.dumps(seen, sort_keys=True))
"""
SERVICES = ["auth", "billing", "Cache", "cache", "mail", "mail-2", "mail-10", "search", "web", "thumbs", "queue", "geo"]
PATHS = ["/", "/api", "/pay", "/img", "/find", "/old", "/m", "/beta", "/geo"]
LOW = 8000


def draw(random):
    names = random.sample(SERVICES, 9)
    shared = random.sample(range(LOW, LOW + 12), 5)
    found = dict(zip(names, [shared[0]] * 3 + [shared[1]] * 2 + shared[2:] + [9000]))
    free = [port for port in range(LOW, LOW + 20) if port not in shared]
    reserved = [free[0], random.choice(free[3:7])]
    span = (free[1], free[1] + random.randint(1, 2))
    blocked = {*reserved, *range(span[0], span[1] + 1)}

    def repaired(order, keeps=min, barred=blocked, taken=None):
        used, ports = set(found.values()) if taken is None else set(taken), dict(found)
        moved = [name for name in names if name != keeps(other for other in names if found[other] == found[name])]
        for name in order(moved):
            ports[name] = next(port for port in range(LOW, 10_000) if port not in used | barred)
            used.add(ports[name])
        return ports

    ghosts = random.sample([name for name in SERVICES if name not in names] + ["legacy"], 2)
    styles = {name: random.choice(["{} = {}", "{}={}", "  {}  =  {}", "{} = {} "]) for name in names}
    needs = {name: [random.sample(names, 2), None, [ghosts[0]], [ghosts[1], *random.sample(names, 2)], random.sample(names, 1)][place % 5] for place, name in enumerate(names)}
    marks = {name: random.choice(["\n", "\n", "\r\n"]) for name in names}
    last = {name: random.random() < 0.3 for name in names}
    twice = names[3]
    places = {name: f"etc/services/{number:02}-{random.choice(['a', 'b'])}.conf" for number, name in enumerate(random.sample(names, 9))}
    routes = [(path, random.choice(names)) for path in PATHS[:6]]
    routes += [(PATHS[6], names[0]), (PATHS[7], ghosts[0]), (PATHS[8], names[1])]
    random.shuffle(routes)
    stale = random.choice(shared)
    gaps = {path: random.choice([" ", "  ", "\t"]) for path in PATHS}

    def tree(ports, right, loose=False, renumbered=False):
        files = {}
        for name in names:
            line = styles[name].format
            lines = [f"# {name} once had port = {found[name]}", line("name", name)]
            if name == twice:
                lines.append(line("port", 7000))
            lines += [line("port", ports[name]), f"data = /srv/{name}/port={found[name]}"]
            wanted = needs[name]
            if wanted is not None:
                real = [one for one in wanted if one in names]
                if not right or real == wanted:
                    lines.append(line("needs", " ,".join(wanted)))
                elif real or loose:
                    lines.append(line("needs", ", ".join(real)))
            lines.append("# end")
            files[places[name]] = marks[name].join(lines) + ("" if last[name] else marks[name])
        body = ["# path and service"]
        for path, name in routes:
            if name in names:
                number = ports[name] if right else found[name] if path != "/" else stale
                if renumbered:
                    number = found[name]
                body.append(f"{path}{gaps[path]}{name}:{number}")
            elif not right or loose:
                body.append(f"{path}{gaps[path]}{name}:{found[names[0]]}")
        files["etc/proxy.map"] = "\n".join(body) + "\n"
        files["etc/allowed.ports"] = "".join(f"{port}\n" for port in (sorted(set(ports.values())) if right else [*shared, 7000, 9000, 22]))
        files["etc/reserved.txt"] = f"{reserved[0]}\n{span[0]}-{span[1]}\n{reserved[1]}\n"
        return files

    ports = repaired(sorted)
    before, after = tree(found, False), tree(ports, True)
    bare = {path: text.replace("\r\n", "\n") for path, text in after.items()}
    if bare == after:
        bare = {path: text.rstrip("\n") + "\n" for path, text in after.items()}
        bare = bare if bare != after else {**after, "etc/proxy.map": after["etc/proxy.map"].replace("# path", "#path")}
    everywhere = {path: text if "services" not in path else text.replace(f"port={found[name]}", f"port={ports[name]}") for name in names if ports[name] != found[name] for path, text in after.items() if path == places[name]}
    solutions = {
        "gold": after,
        "wrong/last_keeps": tree(repaired(sorted, keeps=max), True),
        "wrong/no_order": tree(repaired(lambda moved: sorted(moved, reverse=True)), True),
        "wrong/reserved_taken": tree(repaired(sorted, barred=set()), True),
        "wrong/ghosts_remain": tree(ports, True, loose=True),
        "wrong/proxy_as_it_was": {**after, "etc/proxy.map": before["etc/proxy.map"]},
        "wrong/old_ports_in_proxy": tree(ports, True, renumbered=True),
        "wrong/old_ports_allowed": {**after, "etc/allowed.ports": before["etc/allowed.ports"]},
        "wrong/ends_of_lines": bare,
        "wrong/paths_too": {**after, **everywhere},
        "wrong/reserved_too": {**after, "etc/reserved.txt": "".join(sorted(after["etc/reserved.txt"].splitlines(True), reverse=True)) + "1\n"},
        "right/a_script_beside": {**after, "fix.sh": "true\n"},
        "right/a_program_beside": {**after, "fix.py": "pass\n"},
        "right/notes_beside": {**after, "notes.sh": "# done by hand\n"},
    }
    changed = {name: {path: text for path, text in files.items() if before.get(path) != text} for name, files in solutions.items()}
    truth = {path: text.encode().hex() for path, text in after.items()}
    return {"work": before, "prompt": {"low": str(LOW)}, "truth": truth, **changed}


def tree_is(chosen):
    def cases(random, drawn):
        def right(seen):
            files = json.loads(seen["stdout"])
            here = lambda all_files: {path: text for path, text in all_files.items() if chosen in path}
            return here(files) == here(drawn["truth"])

        while True:
            yield {"args": [["python3", "-c", LISTING]], "holds": right}

    return cases


services, proxy, allowed, reserved = map(tree_is, ("services", "proxy.map", "allowed.ports", "reserved"))


def nothing_more(random, drawn):
    while True:
        yield {"args": [["python3", "-c", LISTING]], "holds": lambda seen: set(json.loads(seen["stdout"])) == set(drawn["truth"])}
