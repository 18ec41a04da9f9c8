"""A day's bookings: half-open times, overlaps, gaps."""

from __future__ import annotations

from typing import Any

SPEC: dict[str, Any] = {
    "system": {"name": "day-slots", "description": "Bookings of one room on one day."},
    "newtypes": {"Minute": {"base": "Int", "constraints": ["non_negative", "max(1440)"]}},
    "errors": {"Taken": "The time is taken"},
    "data_models": {
        "Slot": {
            "fields": [{"name": "start", "type": "Minute"}, {"name": "end", "type": "Minute"}],
            "invariants": ["start < end"],
        },
        "Day": {
            "fields": [{"name": "slots", "type": "List<Slot>"}],
            "invariants": ["all(a.end <= b.start for a, b in zip(slots, slots[1:]))"],
        },
    },
    "interfaces": {"Room": {"methods": [{"name": "book", "params": ["day: Day", "slot: Slot"], "returns": "Result<Day, Taken>"}]}},
    "claims": {"free_001": {"text": "No two bookings share a minute", "type": "invariant"}},
}  # fmt: skip
PLAN: list[dict[str, Any]] = [
    {
        "name": "times", "purpose": "Times of one day.",
        "functions": [
            {
                "name": "overlap", "params": ["one: Slot", "other: Slot"], "returns": "Bool",
                "doc": "Whether two slots share a minute.",
                "contracts": ["ENSURES: result == (one.start < other.end and other.start < one.end)", "PURITY: pure"],
            },
            {
                "name": "is_free", "params": ["day: Day", "slot: Slot"], "returns": "Bool",
                "doc": "Whether no booking shares a minute with a slot.",
                "contracts": ["ENSURES: result == (not any(overlap(slot, one) for one in day.slots))", "PURITY: pure"],
                "calls": ["times.overlap"],
            },
            {
                "name": "book", "params": ["day: Day", "slot: Slot"], "returns": "Result<Day, Taken>",
                "doc": "Add a booking, in the order of time.",
                "contracts": [
                    "ENSURES: not is_free(day, slot) implies raises(Taken)",
                    "ENSURES: is_free(day, slot) implies not raises(Taken)",
                    "ENSURES: set(result.slots) == set(day.slots) | {slot}",
                    "ENSURES: len(result.slots) == len(day.slots) + 1", "PURITY: pure",
                ],
                "calls": ["times.is_free"],
            },
            {
                "name": "busy", "params": ["day: Day"], "returns": "Int", "doc": "How many minutes are booked.",
                "contracts": ["ENSURES: result == sum(slot.end - slot.start for slot in day.slots)", "PURITY: pure"],
            },
            {
                "name": "longest_gap", "params": ["day: Day"], "returns": "Int",
                "doc": "The longest time between midnight, bookings and midnight that is free.",
                "contracts": [
                    "ENSURES: len(day.slots) == 0 implies result == 1440",
                    "ENSURES: len(day.slots) > 0 implies result == max([day.slots[0].start, 1440 - day.slots[-1].end] + [b.start - a.end for a, b in zip(day.slots, day.slots[1:])])",
                    "PURITY: pure",
                ],
            },
        ],
    },
]  # fmt: skip
RIGHT = {
    "times.overlap": "return one.start < other.end and other.start < one.end",
    "times.is_free": "return not any(overlap(slot, one) for one in day.slots)",
    "times.book": (
        "if not is_free(day, slot):\n    raise Taken\n"
        "return Day(tuple(sorted((*day.slots, slot), key=lambda one: one.start)))"
    ),
    "times.busy": "return sum(slot.end - slot.start for slot in day.slots)",
    "times.longest_gap": (
        "longest, free_from = 0, 0\nfor slot in day.slots:\n    longest = max(longest, slot.start - free_from)\n"
        "    free_from = int(slot.end)\nreturn max(longest, 1440 - free_from)"
    ),
}
WRONG = [
    ("times.overlap", "return one.start <= other.end and other.start <= one.end"),
    ("times.overlap", "return one.start <= other.start < one.end or one.start < other.end < one.end"),
    ("times.overlap", "return other.start <= one.start < other.end"),
    ("times.is_free", "return all(slot.end <= one.start or slot.start >= one.end for one in day.slots[:5])"),
    ("times.is_free", "return not any(one.start <= slot.start < one.end for one in day.slots)"),
    ("times.is_free", "return not day.slots or not overlap(slot, day.slots[-1])"),
    ("times.book", "if not is_free(day, slot):\n    raise Taken\nreturn Day((*day.slots, slot))"),
    ("times.book", "if slot in day.slots:\n    raise Taken\nreturn Day(tuple(sorted((*day.slots, slot), key=lambda one: one.start)))"),
    ("times.busy", "return day.slots[-1].end - day.slots[0].start if day.slots else 0"),
    ("times.busy", "return sum(slot.end - slot.start + 1 for slot in day.slots)"),
    ("times.longest_gap", "longest, free_from = 0, 0\nfor slot in day.slots:\n    longest = max(longest, slot.start - free_from)\n    free_from = int(slot.end)\nreturn longest if day.slots else 1440"),
    ("times.longest_gap", "gaps = [b.start - a.end for a, b in zip(day.slots, day.slots[1:])]\nreturn max([0, *gaps]) if day.slots else 1440"),
    ("times.longest_gap", "longest, free_from = 0, 0\nfor slot in day.slots[:30]:\n    longest = max(longest, slot.start - free_from)\n    free_from = int(slot.end)\nreturn max(longest, 1440 - free_from)"),
]  # fmt: skip
