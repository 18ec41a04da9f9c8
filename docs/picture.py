"""Draws docs/images/architecture.svg from the contracts of import-linter: `make docs`."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

_ROOT = Path(__file__).parents[1]
PICTURE = _ROOT / "docs/images/architecture.svg"

#: What each room of the application is for.
ROOMS = {
    "cli": "the root command, and what belongs to no protocol",
    "protocols": "all that Assay knows of one protocol, a folder each",
    "api": "programs: an OpenAI endpoint, and MCP",
    "web": "pages, live",
    "console": "the kit of commands",
    "queue": "runs that wait for workers",
    "batch": "many runs, on one machine or a cluster",
    "launch": "opens every run: start, resume, fork, replay",
    "demo": "recordings",
    "registry": "which protocols and kinds of run there are",
    "hooks": "what a kind of run does, as methods",
    "report": "stories, and how they are shown and drawn",
    "protocol": "what a protocol is, as plain data",
    "terms": "models and bounds of a run",
    "seat_tools": "what seats may look things up with",
    "fields": "what a model's fields say to a door",
}
_RUNTIME = (
    "messages, errors, events: the vocabulary",
    "store: each run's log, chained and signed",
    "wrappers: recording, replaying, limits, budgets",
    "gateway and providers: the way to a model",
)
_WIDTH, _LEFT, _ROW = 840, 24, 30
_INNER = _WIDTH - 2 * _LEFT
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1c2430}.name{font-weight:600}.head{font-size:15px;font-weight:700}"
    ".small{font-size:12px;fill:#4a5568}.floor{fill:#f4f6f9;stroke:#c9d1dc}.room{fill:#fff;stroke:#9aa8ba}"
    ".arrow{stroke:#4a5568;stroke-width:1.5;fill:none;marker-end:url(#tip)}"
)
_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#4a5568"/></marker></defs>'
)


def layers() -> list[list[str]]:
    """Return the rooms of the application by layer, from top to bottom, as the contract has them."""
    return [layer.split(" | ") for layer in _contract("The rooms of the application")["layers"]]


def engines() -> list[str]:
    """Return the packages of the middle floor."""
    return _contract("Three floors")["layers"][1].split(" | ")


def architecture() -> str:
    """Return the picture."""
    parts: list[str] = [f'<rect width="{_WIDTH}" height="100%" rx="8" fill="#fff"/>']
    top = 16
    rooms = layers()
    parts += _floor(top, 44 + _ROW * len(rooms), "assay", "the application: every door, and what is behind them all")
    for number, row in enumerate(rooms):
        parts += _row(top + 36 + number * _ROW, [(name, ROOMS[name]) for name in row])
    top += 44 + _ROW * len(rooms)
    parts += _arrow(top)
    top += 30
    parts += _floor(top, 80, "the protocols", "five libraries; none knows another, and none knows Assay")
    parts += _row(top + 38, [(name, "") for name in engines()])
    top += 80
    parts += _arrow(top)
    top += 30
    parts += _floor(top, 110, "llm_runtime", "what executes, records, replays, meters and limits model calls")
    parts += _row(top + 38, [("", words) for words in _RUNTIME[:2]])
    parts += _row(top + 38 + _ROW, [("", words) for words in _RUNTIME[2:]])
    top += 110 + 8
    parts += _floor(top, 40, "sandbox", "beside it: what runs code that nobody trusts")
    height = top + 40 + 16
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
    head += f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(_alternative())}">'
    return "\n".join([head, f"<style>{_STYLE}</style>", _TIP, *parts, "</svg>\n"])


def _alternative() -> str:
    above = "; ".join(" and ".join(row) for row in layers())
    return (
        f"Three floors, each importing only what is below. The application, from top to bottom: {above}. "
        f"The protocols: {', '.join(engines())}. The runtime: llm_runtime. Beside it: sandbox."
    )


def _contract(name: str) -> dict[str, list[str]]:
    data = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return next(one for one in data["tool"]["importlinter"]["contracts"] if one["name"].startswith(name))


def _floor(top: int, height: int, name: str, about: str) -> list[str]:
    return [
        f'<rect class="floor" x="{_LEFT - 12}" y="{top}" width="{_INNER + 24}" height="{height}" rx="6"/>',
        f'<text class="head" x="{_LEFT}" y="{top + 23}">{name}</text>',
        f'<text class="small" x="{_LEFT + 9 * len(name) + 14}" y="{top + 23}">{escape(about)}</text>',
    ]


def _row(top: int, cells: list[tuple[str, str]]) -> list[str]:
    gap, parts = 8, list[str]()
    width = (_INNER - gap * (len(cells) - 1)) / len(cells)
    for number, (name, about) in enumerate(cells):
        left = _LEFT + number * (width + gap)
        name_width = 0 if not name else 92 if about else width
        parts.append(f'<rect class="room" x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_ROW - 5}" rx="4"/>')
        if name:
            parts.append(f'<text class="name" x="{left + 10:.1f}" y="{top + 17}">{name}</text>')
        if about:
            words = f'<text class="small" x="{left + 10 + name_width:.1f}" y="{top + 17}">{escape(about)}</text>'
            parts.append(words)
    return parts


def _arrow(top: int) -> list[str]:
    middle = _WIDTH // 2
    return [
        f'<path class="arrow" d="M{middle} {top + 3}V{top + 26}"/>',
        f'<text class="small" x="{middle + 12}" y="{top + 19}">imports</text>',
    ]
