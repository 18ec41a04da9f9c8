"""What came of a command, as text for a model."""

from __future__ import annotations

from sandbox.channel import Completed

_SHOWN = 8000


def shown(done: Completed) -> str:
    """Return a command's end as text."""
    parts = [f"exit {done.code}"]
    if done.ended:
        parts[0] += f" (ended by the limit of {done.ended})"
    for name, data in (("stdout", done.stdout), ("stderr", done.stderr)):
        if data:
            parts.append(f"{name}:\n{clip(data.decode('utf-8', 'replace'))}")
    return "\n".join(parts)


def clip(text: str) -> str:
    """Cut to some 8,000 characters: the beginning, the end, and how much is left out between."""
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n[... {len(text) - _SHOWN} characters left out ...]\n{text[-half:]}"
