"""The grammar of triage's answer: narrower than the schema, so that an engine that decodes by it errs nowhere."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from crucible.config import ComplexityDomain, CouncilRole, LoopGrammar, RedTeamFlavor

# No quote, backslash or control character, so that nothing is escaped, and no white space at the beginning.
# llama.cpp takes a pattern in place of bounds on the length, not beside them.
_CHARACTER = r'[^"\\\x00-\x1F\x7F]'
_FIRST = r'[^"\\\x00-\x20\x7F-\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]'


@cache
def triage_grammar() -> str:
    """Return a JSON schema as text, with its names in the order in which they are to be written.

    All that it allows is a valid ``TriageOutput``: the red team is the last seat, and only a simple query may take
    the short way. There is no hint at a model: those that triage knows no such engine serves.
    """
    deliberating = [role.value for role in CouncilRole if role is not CouncilRole.RED_TEAM]
    seat, red_team = _seat({"enum": deliberating}), _seat({"const": CouncilRole.RED_TEAM.value})
    councils = [
        {"type": "array", "prefixItems": [*[seat] * (size - 1), red_team], "minItems": size, "maxItems": size}
        for size in (3, 4, 5)
    ]
    involved = [level.value for level in ComplexityDomain if level is not ComplexityDomain.SIMPLE]
    rest = {
        "council": {"anyOf": councils},
        "loop_grammar": {"enum": [grammar.value for grammar in LoopGrammar]},
        "loop_count": {"enum": [2, 3, 4, 5]},
        "red_team_flavor": {"enum": [flavor.value for flavor in RedTeamFlavor]},
        "allow_early_exit": {"type": "boolean"},
        "synthesis_instruction": _text(800),
    }
    query = {"reconstructed_query": _text(2_000)}
    simple = {"complexity": {"const": "simple"}, "short_circuit_allowed": {"type": "boolean"}}
    other = {"complexity": {"enum": involved}, "short_circuit_allowed": {"const": False}}
    return json.dumps({"anyOf": [_object(query | simple | rest), _object(query | other | rest)]})


def _seat(role: dict[str, Any]) -> dict[str, Any]:
    return _object({"role": role, "system_prompt": _text(800), "model_hint": {"type": "null"}})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{_FIRST}{_CHARACTER}{{0,{most - 1}}}$"}
