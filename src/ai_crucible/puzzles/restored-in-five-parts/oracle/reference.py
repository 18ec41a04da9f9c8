"""Draws a backup in parts, and knows what it restores to because it was there."""

import hashlib
import json
from datetime import datetime, timedelta, timezone

NAMES = ["notes.txt", "-rf", ".env", "a b/c d.txt", "a b/c  d.txt", "Plan", "plan", "data/1.csv", "data/10.csv", "data/2.csv", "é/ü.txt", " lead", "x/MANIFEST", "gone", "file abc", "z/-q/.k", "deep/er/est/one"]
LISTING = """
import json, os
seen = {}
for folder, _, names in os.walk("restored"):
    for name in names:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            seen[os.path.relpath(path, "restored")] = "a link" if os.path.islink(path) else file.read().hex()
print(json.dumps(seen, sort_keys=True))
"""


def draw(random):
    parts = random.randint(5, 6)
    start = datetime(2026, random.randint(1, 12), random.randint(1, 27), 22, random.randint(0, 59), tzinfo=timezone.utc)
    names = random.sample(NAMES, 14)
    # By path what the parts do in turn: a good copy, a damaged one, a missing one, a deletion, or nothing.
    fates = [
        ["good", "", "good"], ["good", "bad"], ["bad"], ["good", "gone", "bad"], ["good", "gone", "", "good"], ["good", "bad", "gone"],
        ["good", "missing"], ["", "missing", "good"], ["good", "good", "bad", "bad"], ["gone", "good"], ["good", "gone"], ["", "", "good", "missing", "bad"],
        ["good"], ["bad", "good"],
    ]
    random.shuffle(names)
    work, manifests = {}, [[] for _ in range(parts)]
    folders = [f"backups/part-{number}" for number in random.sample(range(1, 40), parts)]
    truth, newest, early, lenient = {}, {}, {}, {}
    lost, older = [], {}
    for name, fate in zip(names, fates):
        held, there, past_deletion = None, False, None
        for part, step in enumerate(fate):
            if not step:
                continue
            if step == "gone":
                manifests[part].append(f"gone {name}")
                held, there = None, False
                continue
            text = f"{name} {random.randint(0, 9999)}\n" * random.choice([1, 1, 2])
            digest = hashlib.sha256(text.encode()).hexdigest()
            manifests[part].append(f"file {digest} {name}")
            there = True
            if step != "missing":
                work[f"{folders[part]}/files/{name}"] = text if step == "good" else text.replace(text[-3], "#")
                newest[name] = work[f"{folders[part]}/files/{name}"]
            if step == "good":
                held = past_deletion = text
        if there and held is not None:
            truth[name] = held
        elif there:
            lost.append(name)
            if past_deletion:
                older[name] = past_deletion
        else:
            newest.pop(name, None)
            early[name] = past_deletion or "x\n"
    stray = "stray.txt"
    work[f"{folders[1]}/files/{stray}"] = "not named\n"
    changing = next(name for name, fate in zip(names, fates) if fate == ["good", "", "good"])
    for part, lines in enumerate(manifests):
        random.shuffle(lines)
        # Only with the offsets is this the order of the parts.
        zone = timezone(timedelta(hours=[11, 2, -9, 5, -3, 9][part]))
        taken = (start + timedelta(hours=6 * part)).astimezone(zone)
        work[f"{folders[part]}/MANIFEST"] = "\n".join([f"taken {taken.isoformat()}", *lines]) + "\n"
    listed = lambda paths: "".join(f"{path}\n" for path in sorted(paths))

    def solution(files, paths=lost):
        return {**{f"restored/{name}": text for name, text in files.items()}, "lost.txt": listed(paths)}

    oldest = next(work[f"{folder}/files/{changing}"] for folder in folders if f"{folder}/files/{changing}" in work)
    without = {name: text for name, text in truth.items() if name != changing}
    return {
        "work": work,
        "prompt": {"parts": str(parts)},
        "truth": {name: text.encode().hex() for name, text in truth.items()},
        "lost": listed(lost),
        "gold": solution(truth),
        "wrong/damaged_is_good": solution(newest, []),
        "wrong/deleted_remains": solution({**truth, **early}),
        "wrong/before_the_deletion": solution({**truth, **older}, [name for name in lost if name not in older]),
        "wrong/stray_too": solution({**truth, stray: "not named\n"}),
        "wrong/first_copy": solution({**truth, changing: oldest}),
        "wrong/nothing_lost": solution(truth, []),
        "wrong/one_left_out": solution(without),
        "wrong/left_out_and_lost": solution(without, [*lost, changing]),
        "wrong/names_trimmed": solution({"_" + name.strip(" -."): text for name, text in truth.items()}),
        "right/with_a_script": {**solution(truth), "restore.sh": "echo done\n"},
        "right/lost_without_line_end": {**solution(truth), "lost.txt": listed(lost).rstrip("\n")},
        "right/lost_with_crlf": {**solution(truth), "lost.txt": listed(lost).replace("\n", "\r\n")},
    }


def tree(random, drawn):
    while True:
        yield {
            "args": [["python3", "-c", LISTING]],
            "holds": lambda seen: seen["exit"] == 0 and json.loads(seen["stdout"]) == drawn["truth"],
        }


def lost(data, drawn):
    return "" if data.decode().splitlines() == drawn["lost"].splitlines() else "the lost paths are others"
