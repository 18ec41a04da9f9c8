"""YAML of others': data only, of bounded depth and aliasing."""

from __future__ import annotations

from typing import Any, cast

_MOST_ALIASES, _DEEPEST = 32, 16


def parse_yaml(text: str) -> Any:
    """Read YAML.

    Raises:
        ValueError: it is none, or grows without end where it is written out; the message follows the file's name.
    """
    import yaml

    aliases = depth = 0
    try:
        for event in cast("Any", yaml).parse(text, Loader=yaml.SafeLoader):
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if aliases > _MOST_ALIASES or depth > _DEEPEST:
                break
        else:
            return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as fault:
        raise ValueError(f"is not YAML: {' '.join(str(fault).split())[:200]}") from None
    raise ValueError("refers to itself too often or is nested too deep; write it out")
