"""Run lengths: written after the judge's values were, and not changed for them."""

from __future__ import annotations

from typing import Any

SPEC: dict[str, Any] = {
    "system": {"name": "run-lengths", "description": "Texts as runs of one sign each."},
    "newtypes": {
        "Sign": {"base": "Text", "constraints": ["min_length(1)", "max_length(1)"]},
        "Times": {"base": "Int", "constraints": ["min(1)", "max(100000)"]},
    },
    "data_models": {"Run": {"fields": [{"name": "sign", "type": "Sign"}, {"name": "times", "type": "Times"}]}},
    "interfaces": {"Runs": {"methods": [{"name": "packed", "params": ["text: Text"], "returns": "List<Run>"}]}},
    "claims": {"back_001": {"text": "Unpacking gives back what was packed", "type": "invariant"}},
}
PLAN: list[dict[str, Any]] = [
    {
        "name": "runs", "purpose": "Packing and unpacking.",
        "functions": [
            {
                "name": "unpacked", "params": ["runs: List<Run>"], "returns": "Text", "doc": "Write the signs out.",
                "contracts": [
                    "REQUIRES: sum(run.times for run in runs) <= 5000",
                    "ENSURES: len(result) == sum(run.times for run in runs)",
                    "ENSURES: all(result.count(run.sign) == sum(one.times for one in runs if one.sign == run.sign) for run in runs)",
                    "ENSURES: [sign for sign, before in zip(result, ' ' + result) if sign != before][:1] == [run.sign for run in runs if run.sign != ' '][:1] or any(run.sign == ' ' for run in runs)",
                    "ENSURES: all(result[sum(run.times for run in runs[:place]) : sum(run.times for run in runs[:place]) + runs[place].times] == runs[place].sign * runs[place].times for place in range(len(runs)))",
                    "PURITY: pure",
                ],
            },
            {
                "name": "packed", "params": ["text: Text"], "returns": "List<Run>",
                "doc": "The fewest runs that make a text.",
                "contracts": [
                    "REQUIRES: len(text) <= 5000", "ENSURES: unpacked(result) == text",
                    "ENSURES: all(a.sign != b.sign for a, b in zip(result, result[1:]))",
                    "COMPLEXITY: O(n) where n = len(text)", "PURITY: pure",
                ],
            },
            {
                "name": "longest", "params": ["runs: List<Run>"], "returns": "Option<Run>",
                "doc": "The longest run, the first of several.",
                "contracts": [
                    "ENSURES: len(runs) == 0 implies result is None",
                    "ENSURES: len(runs) > 0 implies result == runs[[run.times for run in runs].index(max([run.times for run in runs]))]",
                    "PURITY: pure",
                ],
            },
            {
                "name": "joined", "params": ["one: List<Run>", "other: List<Run>"], "returns": "List<Run>",
                "doc": "Runs of two texts behind each other.",
                "contracts": [
                    "REQUIRES: all(a.sign != b.sign for a, b in zip(one, one[1:]))",
                    "REQUIRES: all(a.sign != b.sign for a, b in zip(other, other[1:]))",
                    "REQUIRES: sum(run.times for run in one) + sum(run.times for run in other) <= 2500",
                    "ENSURES: unpacked(result) == unpacked(one) + unpacked(other)",
                    "ENSURES: all(a.sign != b.sign for a, b in zip(result, result[1:]))", "PURITY: pure",
                ],
            },
        ],
    },
]  # fmt: skip
_LOOP = "result: list[Run] = []\nfor sign in text:\n"
RIGHT = {
    "runs.unpacked": 'return "".join(run.sign * run.times for run in runs)',
    "runs.packed": (
        "result: list[Run] = []\nstart = 0\nfor end in range(1, len(text) + 1):\n"
        "    if end == len(text) or text[end] != text[start]:\n"
        "        result.append(Run(Sign(text[start]), Times(end - start)))\n        start = end\nreturn tuple(result)"
    ),
    "runs.longest": (
        "best: Run | None = None\nfor run in runs:\n    if best is None or run.times > best.times:\n"
        "        best = run\nreturn best"
    ),
    "runs.joined": (
        "if one and other and one[-1].sign == other[0].sign:\n"
        "    middle = Run(one[-1].sign, Times(one[-1].times + other[0].times))\n"
        "    return (*one[:-1], middle, *other[1:])\nreturn (*one, *other)"
    ),
}
WRONG = [
    ("runs.unpacked", 'return "".join(run.sign for run in runs)'),
    ("runs.unpacked", 'return "".join(run.sign * run.times for run in reversed(runs))'),
    ("runs.unpacked", 'return "".join(run.sign * run.times for run in sorted(runs, key=lambda run: run.sign))'),
    ("runs.unpacked", 'return "".join(run.sign * min(run.times, 9) for run in runs)'),
    ("runs.unpacked", 'return "".join(run.sign * run.times for run in dict.fromkeys(runs))'),
    ("runs.packed", _LOOP + "    if result and result[-1].sign == sign and result[-1].times < 9:\n        result[-1] = Run(Sign(sign), Times(result[-1].times + 1))\n    else:\n        result.append(Run(Sign(sign), Times(1)))\nreturn tuple(result)"),
    ("runs.packed", _LOOP + "    result.append(Run(Sign(sign), Times(1)))\nreturn tuple(result)"),
    ("runs.packed", _LOOP.replace("text", "text.strip()") + "    if result and result[-1].sign == sign:\n        result[-1] = Run(Sign(sign), Times(result[-1].times + 1))\n    else:\n        result.append(Run(Sign(sign), Times(1)))\nreturn tuple(result)"),
    ("runs.packed", _LOOP + "    if result and result[-1].sign.lower() == sign.lower():\n        result[-1] = Run(result[-1].sign, Times(result[-1].times + 1))\n    else:\n        result.append(Run(Sign(sign), Times(1)))\nreturn tuple(result)"),
    ("runs.packed", "result: list[Run] = []\nplace = 0\nwhile place < len(text):\n    times = 0\n    for sign in text[place:]:\n        if sign != text[place]:\n            break\n        times += 1\n    before = sum(1 for other in text[:place] if other == text[place])\n    result.append(Run(Sign(text[place]), Times(times + 0 * before)))\n    place += times\nreturn tuple(result)"),
    ("runs.longest", "best: Run | None = None\nfor run in runs:\n    if best is None or run.times >= best.times:\n        best = run\nreturn best"),
    ("runs.longest", "return max(runs, key=lambda run: (run.times, run.sign)) if runs else None"),
    ("runs.longest", "return runs[0] if runs else None"),
    ("runs.longest", "best: Run | None = None\nfor run in runs[:20]:\n    if best is None or run.times > best.times:\n        best = run\nreturn best"),
    ("runs.joined", "return (*one, *other)"),
    ("runs.joined", "if one and other and one[-1].sign == other[0].sign:\n    return (*one[:-1], other[0], *other[1:])\nreturn (*one, *other)"),
    ("runs.joined", "if one and other and one[0].sign == other[0].sign:\n    middle = Run(one[-1].sign, Times(one[-1].times + other[0].times))\n    return (*one[:-1], middle, *other[1:])\nreturn (*one, *other)"),
    ("runs.joined", "if one and other and one[-1] == other[0]:\n    middle = Run(one[-1].sign, Times(2 * one[-1].times))\n    return (*one[:-1], middle, *other[1:])\nreturn (*one, *other)"),
]  # fmt: skip
