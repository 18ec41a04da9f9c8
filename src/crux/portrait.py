"""The one system prompt of a persona: five sections, third person, 2,200 tokens (CX9)."""

from __future__ import annotations

from collections.abc import Sequence

from crux.anonymity import Mask
from crux.budget import SYSTEM_TOKENS, clip, fitting
from crux.personas.persona import Persona
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tokens import estimate_tokens

#: Tokens of the five sections, as the specification gives them.
IDENTITY, THINKING, FLIPS, VOICE, GROUNDING = 800, 500, 200, 300, 200
_MOST_ANCHORS = 5


def system_prompt(persona: Persona, seat: str, mask: Mask, seed: int) -> str:
    """Say who the speaker is. The fence is the same for a whole debate, so that a provider can cache the prompt.

    The names of others on the panel, which a text may well mention, are masked like everywhere else.
    """
    name = persona.name
    contract, voice = persona.contract, persona.contract.voice
    thinking = _joined(contract.epistemology, contract.evidence_policy, contract.time_horizon)
    flips = _list([f"{flip.id}: {flip.text}" for flip in contract.flip_conditions], FLIPS)
    traits = [
        *([f"Habits: {'; '.join(voice.speech_patterns)}"] if voice.speech_patterns else []),
        *([f"Own words: {', '.join(voice.vocabulary)}"] if voice.vocabulary else []),
        *([f"Never says: {'; '.join(voice.forbidden_phrases)}"] if voice.forbidden_phrases else []),
        *([f"About {voice.words_per_sentence:.0f} words a sentence"] if voice.words_per_sentence else []),
        *(f'Sounds like: "{example.quote}"' for example in voice.examples if not mask.names(example.quote)),
    ]
    own = [place for place in contract.anchor_excerpts if not mask.names(place.quote)][:_MOST_ANCHORS]
    where = [", ".join(filter(None, (place.title or place.item, place.date))) for place in own]
    quotes = [f'"{place.quote}" ({source})' for place, source in zip(own, where, strict=True)]
    sections = [
        ("Identity", clip(_joined(contract.personality, contract.bias, contract.stakes), IDENTITY)),
        (f"How {name} thinks", clip(thinking, THINKING)),
        (f"What changes the mind of {name}", flips or "Nothing on record says what would."),
        (f"The voice of {name}", _list(traits, VOICE)),
        ("Grounding, in the person's own words", _list(quotes, GROUNDING)),
    ]
    body = f"{name}\n\n" + "\n\n".join(f"## {head}\n{text}" for head, text in sections if text)
    fence = Fence(seed, CallLabel("crux", "persona", seat))
    prompt = load_prompt("crux", "persona")
    room = SYSTEM_TOKENS - estimate_tokens(prompt.render(portrait=fence("PORTRAIT", ""), name=name))
    return prompt.render(portrait=fence("PORTRAIT", clip(mask.others(body), room)), name=name)


def _joined(*parts: str) -> str:
    """Join parts; those of one section share its room evenly, so that the last is not the one that is cut."""
    return " ".join(part.strip() for part in parts if part.strip())


def _list(entries: Sequence[str], tokens: int) -> str:
    """Return the first entries that fit, each on a line; one that is too long gives its place to the next."""
    lines: list[str] = []
    for entry in entries:
        line = f"- {clip(' '.join(entry.split()), tokens - 2)}"
        if len(fitting([*lines, line], tokens)) > len(lines):
            lines.append(line)
    return "\n".join(lines)
