"""Version numbers: written after the judge's values were, and not changed for them."""

from __future__ import annotations

from typing import Any

_PART = "(part == '0' or (part.isascii() and part.isdigit() and part[0] != '0' and len(part) <= 6))"
_TEXT = f"len(text.split('.')) == 3 and all(part != '' and {_PART} for part in text.split('.'))"
SPEC: dict[str, Any] = {
    "system": {"name": "versions", "description": "Version numbers of three parts."},
    "newtypes": {"Part": {"base": "Int", "constraints": ["non_negative", "max(999999)"]}},
    "enums": {"Level": ["major", "minor", "patch"]},
    "errors": {"NoVersion": "The text is no version"},
    "data_models": {
        "Version": {
            "fields": [
                {"name": "major", "type": "Part"}, {"name": "minor", "type": "Part"}, {"name": "patch", "type": "Part"},
            ]
        }
    },
    "interfaces": {"Versions": {"methods": [{"name": "parse", "params": ["text: Text"], "returns": "Result<Version, NoVersion>"}]}},
    "claims": {"order_001": {"text": "Versions have a total order", "type": "invariant"}},
}  # fmt: skip
PLAN: list[dict[str, Any]] = [
    {
        "name": "versions", "purpose": "Reading, comparing and raising versions.", "imports": ["re"],
        "functions": [
            {
                "name": "write", "params": ["version: Version"], "returns": "Text", "doc": "Three parts with points.",
                "contracts": ["ENSURES: result == str(version.major) + '.' + str(version.minor) + '.' + str(version.patch)", "PURITY: pure"],
            },
            {
                "name": "parse", "params": ["text: Text"], "returns": "Result<Version, NoVersion>",
                "doc": "Read three numbers with points between them, none with a leading zero.",
                "contracts": [
                    f"ENSURES: ({_TEXT}) implies not raises(NoVersion)", f"ENSURES: not ({_TEXT}) implies raises(NoVersion)",
                    "ENSURES: write(result) == text", "PURITY: pure",
                ],
            },
            {
                "name": "newer", "params": ["one: Version", "other: Version"], "returns": "Bool",
                "doc": "Whether one is newer than the other.",
                "contracts": ["ENSURES: result == ([one.major, one.minor, one.patch] > [other.major, other.minor, other.patch])", "PURITY: pure"],
            },
            {
                "name": "raised", "params": ["version: Version", "level: Level"], "returns": "Version",
                "doc": "The next version at a level; what is below it begins at zero.",
                "contracts": [
                    "REQUIRES: version.major < 999999 and version.minor < 999999 and version.patch < 999999",
                    "ENSURES: level == Level.MAJOR implies result == Version(Part(version.major + 1), Part(0), Part(0))",
                    "ENSURES: level == Level.MINOR implies result == Version(version.major, Part(version.minor + 1), Part(0))",
                    "ENSURES: level == Level.PATCH implies result == replace(version, patch=Part(version.patch + 1))",
                    "PURITY: pure",
                ],
            },
            {
                "name": "newest", "params": ["versions: List<Version>"], "returns": "Option<Version>",
                "doc": "The newest of some versions.",
                "contracts": [
                    "ENSURES: len(versions) == 0 implies result is None",
                    "ENSURES: len(versions) > 0 implies result in versions",
                    "ENSURES: all(not newer(version, result) for version in versions)", "PURITY: pure",
                ],
                "calls": ["versions.newer"],
            },
        ],
    },
]  # fmt: skip
_PARSED = "return Version(Part(int(parts[0])), Part(int(parts[1])), Part(int(parts[2])))"
RIGHT = {
    "versions.write": 'return f"{version.major}.{version.minor}.{version.patch}"',
    "versions.parse": (
        'match = re.fullmatch(r"(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})\\.(0|[1-9][0-9]{0,5})", text)\n'
        "if match is None:\n    raise NoVersion\n"
        "return Version(Part(int(match[1])), Part(int(match[2])), Part(int(match[3])))"
    ),
    "versions.newer": "return (one.major, one.minor, one.patch) > (other.major, other.minor, other.patch)",
    "versions.raised": (
        "if level == Level.MAJOR:\n    return Version(Part(version.major + 1), Part(0), Part(0))\n"
        "if level == Level.MINOR:\n    return Version(version.major, Part(version.minor + 1), Part(0))\n"
        "return replace(version, patch=Part(version.patch + 1))"
    ),
    "versions.newest": (
        "best: Version | None = None\nfor version in versions:\n    if best is None or newer(version, best):\n"
        "        best = version\nreturn best"
    ),
}
WRONG = [
    ("versions.write", 'return f"{version.major}.{version.minor}" + (f".{version.patch}" if version.patch else ".0")[:4]'),
    ("versions.write", 'return ".".join(str(part) for part in (version.major, version.patch, version.minor))'),
    ("versions.parse", 'parts = text.split(".")\nif len(parts) != 3 or not all(part.isdigit() for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.parse", 'parts = text.split(".")\nif len(parts) < 3 or not all(re.match(r"(0|[1-9][0-9]{0,5})$", part) for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.parse", 'parts = text.split(".")\nif len(parts) != 3 or not all(re.match(r"(0|[1-9][0-9]{0,5})$", part) for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.parse", 'parts = text.strip().split(".")\nif len(parts) != 3 or not all(re.fullmatch(r"0|[1-9][0-9]{0,5}", part) for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.parse", 'parts = text.split(".")\nif len(parts) != 3 or not all(re.fullmatch(r"0|[1-9]\\d{0,5}", part) for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.parse", 'parts = text.split(".")\nif len(parts) != 3 or not all(re.fullmatch(r"0|[1-9][0-9]{0,4}", part) for part in parts):\n    raise NoVersion\n' + _PARSED),
    ("versions.newer", "return (one.major, one.minor, one.patch) >= (other.major, other.minor, other.patch)"),
    ("versions.newer", "return one.major > other.major or one.minor > other.minor or one.patch > other.patch"),
    ("versions.newer", "if one.major != other.major:\n    return one.major > other.major\nreturn (one.patch, one.minor) > (other.patch, other.minor)"),
    ("versions.newer", 'return f"{one.major}.{one.minor}.{one.patch}" > f"{other.major}.{other.minor}.{other.patch}"'),
    ("versions.raised", "if level == Level.MAJOR:\n    return Version(Part(version.major + 1), version.minor, version.patch)\nif level == Level.MINOR:\n    return Version(version.major, Part(version.minor + 1), Part(0))\nreturn replace(version, patch=Part(version.patch + 1))"),
    ("versions.raised", "if level == Level.MAJOR:\n    return Version(Part(version.major + 1), Part(0), Part(0))\nreturn Version(version.major, Part(version.minor + 1), Part(0))"),
    ("versions.newest", "best: Version | None = None\nfor version in versions:\n    if best is None or newer(best, version):\n        best = version\nreturn best"),
    ("versions.newest", "return versions[-1] if versions else None"),
    ("versions.newest", "best: Version | None = None\nfor version in versions[:50]:\n    if best is None or newer(version, best):\n        best = version\nreturn best"),
    ("versions.newest", "return max(versions, key=lambda version: version.major, default=None)"),
]  # fmt: skip
