"""Tasks that are right by construction: six kinds, three levels, fresh by seed, so in no training set.

``python -m bench.checkable [COUNT] [SEED]`` prints them, one JSON object a line.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from datetime import date, timedelta
from itertools import pairwise, permutations
from typing import Any

NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hal")
THINGS = ("jars", "books", "bolts", "apples", "tiles", "cups")
LEVELS = (1, 2, 3)


def stock(draw: random.Random, level: int) -> tuple[str, int]:
    """Goods that come, go and are packed."""
    things, left = draw.choice(THINGS), draw.randint(40, 90)
    steps = [f"A store holds {left} {things}."]
    for _ in range(2 * level):
        boxes, each = draw.randint(2, 9), draw.randint(6, 19)
        if draw.random() < 0.6 or left < boxes * each:
            left += boxes * each
            steps.append(f"{boxes} boxes of {each} arrive.")
        else:
            left -= boxes * each
            steps.append(f"{boxes} boxes of {each} are sold.")
    lost = draw.randint(1, min(left - 1, 20))
    return " ".join([*steps, f"{lost} break. How many {things} are left?"]), left - lost


def calendar(draw: random.Random, level: int) -> tuple[str, str]:
    """A day so many weeks, days and working days after another."""
    day = date(draw.randint(2023, 2031), draw.randint(1, 12), draw.randint(1, 28))
    asked, weeks, more = f"{day:%A}, {day.day} {day:%B %Y}", draw.randint(2, 9), draw.randint(1, 6)
    said = f"A project begins on {asked}. It is reviewed {weeks} weeks and {more} days later"
    day += timedelta(weeks=weeks, days=more)
    if level > 1:
        back = draw.randint(20, 70)
        day -= timedelta(days=back)
        said += f", which is then moved {back} days earlier"
    if level > 2:
        working = draw.randint(6, 14)
        said += f", and at last {working} working days later (Monday to Friday)"
        while working:
            day += timedelta(days=1)
            working -= day.weekday() < 5
    return f"{said}. On which date is it reviewed? Give the date as YYYY-MM-DD.", day.isoformat()


def order(draw: random.Random, level: int) -> tuple[str, str]:
    """Who stands where, by hints that leave one order alone."""
    people = draw.sample(NAMES, 3 + level)
    truth = draw.sample(people, len(people))
    place = {name: at for at, name in enumerate(truth)}
    hints: list[tuple[str, Callable[[dict[str, int]], bool]]] = []
    left = [{name: at for at, name in enumerate(one)} for one in permutations(people)]
    while len(left) > 1:
        a, b = draw.sample(people, 2)
        gap = place[a] - place[b]
        if abs(gap) == 1:
            hint = f"{a} and {b} stand next to each other.", lambda at, a=a, b=b: abs(at[a] - at[b]) == 1
        else:
            before, after = (a, b) if gap < 0 else (b, a)
            hint = f"{before} stands somewhere before {after}.", lambda at, x=before, y=after: at[x] < at[y]
        kept = [one for one in left if hint[1](one)]
        if len(kept) < len(left):
            hints.append(hint)
            left = kept
    at = draw.randrange(len(people))
    listed = " ".join(text for text, _ in hints)
    row = f"{len(people)} people stand in a row: {', '.join(people)}."
    return f"{row} {listed} Who is number {at + 1} from the front?", truth[at]


def path(draw: random.Random, level: int) -> tuple[str, int]:
    """The shortest way through a network of roads."""
    towns = "ABCDEFGH"[: 4 + level]
    roads = {(a, b): draw.randint(2, 30) for a, b in pairwise(towns)}
    for _ in range(2 * level + 1):
        a, b = sorted(draw.sample(towns, 2))
        roads.setdefault((a, b), draw.randint(5, 60))
    far = dict.fromkeys(towns, 10**6) | {towns[0]: 0}
    for _ in towns:
        for (a, b), length in roads.items():
            far[b], far[a] = min(far[b], far[a] + length), min(far[a], far[b] + length)
    listed = "; ".join(f"{a} to {b}: {length} km" for (a, b), length in roads.items())
    asked = f"How long is the shortest way from {towns[0]} to {towns[-1]}, in km?"
    return f"Roads, each usable in both directions: {listed}. {asked}", far[towns[-1]]


def trace(draw: random.Random, level: int) -> tuple[str, int]:
    """What a small program prints."""
    a, b, m, n = draw.randint(2, 9), draw.randint(1, 9), draw.randint(7, 23), 2 + 2 * level
    lines = [f"x = {a}", f"for i in range({n}):", f"    x = (x * {b} + i) % {m}"]
    x = a
    for i in range(n):
        x = (x * b + i) % m
        if level > 1 and x % 2:
            x += a
    if level > 1:
        lines += ["    if x % 2:", f"        x += {a}"]
    return "What does this Python program print?\n\n" + "\n".join([*lines, "print(x)"]), x


def counting(draw: random.Random, level: int) -> tuple[str, int]:
    """How many numbers up to a bound meet conditions."""
    low, top, a, b = draw.randint(2, 99), draw.randint(120, 400), draw.randint(3, 7), draw.randint(8, 11)
    conditions: list[tuple[str, Callable[[int], bool]]] = [
        (f"are divisible by {a}", lambda n: n % a == 0),
        (f"are not divisible by {b}", lambda n: n % b != 0),
        ("have an even sum of digits", lambda n: sum(map(int, str(n))) % 2 == 0),
    ][:level]
    count = sum(all(holds(n) for _, holds in conditions) for n in range(low, top + 1))
    return f"How many whole numbers from {low} to {top} {' and '.join(text for text, _ in conditions)}?", count


KINDS: dict[str, Callable[[random.Random, int], tuple[str, Any]]] = {
    one.__name__: one for one in (stock, calendar, order, path, trace, counting)
}


def tasks(count: int = 400, seed: int = 1) -> list[dict[str, Any]]:
    """Return so many tasks, of each kind and level as many as go; their order says nothing of how hard they are."""
    draw, made = random.Random(f"evidence|{seed}"), list[dict[str, Any]]()
    places = [(kind, level) for level in LEVELS for kind in KINDS]
    for number in range(count):
        kind, level = places[number % len(places)]
        question, expected = KINDS[kind](draw, level)
        while any(question == one["question"] for one in made):
            question, expected = KINDS[kind](draw, level)
        made.append({"id": f"{kind}-{level}-{number + 1}", "question": question, "expected": expected})
    draw.shuffle(made)
    return made


if __name__ == "__main__":
    for one in tasks(*map(int, sys.argv[1:])):
        print(json.dumps(one))
