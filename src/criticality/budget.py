"""Context budgets: what a prompt may hold, and what becomes of one that holds more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import Field

from llm_runtime.errors import LlmRuntimeError
from llm_runtime.models import Model
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimate_tokens

T = TypeVar("T")
Tokens = Annotated[int, Field(ge=100, le=10_000_000)]
Section: TypeAlias = Literal["comments", "examples", "relatedTypes", "requiredTypes"]
"""What may be left out, in this order; a signature, contracts and the instructions never are."""

#: Of the tier's limit: beyond it a larger model is asked, where there is one, before anything is left out.
_MILD = 0.2
#: Of the limit, for one part of an audit that is done in parts.
_CHUNK = 0.8
#: Lines of the module before that each part of an audit begins with.
OVERLAP = 10
#: Where a prompt goes that a tier cannot hold.
_LARGER = {"worker": "fallback1", "fallback1": "fallback2", "auditor": "architect", "structurer": "architect"}


class ContextLimits(Model):
    """Tokens that a tier's prompt may hold; the answers' limits are the tiers' own."""

    worker: Tokens = 16_000
    auditor: Tokens = 128_000
    structurer: Tokens = 200_000
    architect: Tokens = 200_000

    def of(self, role: str) -> int:
        """Return the limit of a role; a tier of Injection is a role too."""
        return int(getattr(self, {"fallback1": "structurer", "fallback2": "architect"}.get(role, role)))


class ContextOverflow(LlmRuntimeError):
    """A prompt that no tier is large enough for, whatever is left out of it.

    Args:
        tokens: of the prompt.
        limit: of the tier that was to be asked.
    """

    def __init__(self, message: str, tokens: int, limit: int) -> None:
        super().__init__(message)
        self.tokens, self.limit = tokens, limit


class Spare(Struct):
    """A section that may be left out, and the prompt's values once it is."""

    section: Section
    values: Mapping[str, str]


class Fitted(Struct):
    """A prompt that fits: its text, the role that is large enough, and what was left out, in order."""

    text: str
    role: str
    left_out: tuple[Section, ...] = ()


def fit(
    role: str, values: Mapping[str, str], render: Callable[[Mapping[str, str]], str],
    limits: ContextLimits, spare: Sequence[Spare] = (),
) -> Fitted:  # fmt: skip
    """Fit a prompt: as it is; with sections left out where it is at most 20% too long; else for a larger tier.

    Args:
        spare: what may be left out, in the order of :data:`Section`.

    Raises:
        ContextOverflow: no tier holds it.
    """
    whole = render(values)
    tokens = estimate_tokens(whole)
    asked: str | None = role
    while asked is not None:
        limit = limits.of(asked)
        if tokens <= limit:
            return Fitted(whole, asked)
        if tokens <= limit * (1 + _MILD):
            shorter = dict(values)
            for number, part in enumerate(spare, start=1):
                shorter |= part.values
                text = render(shorter)
                if estimate_tokens(text) <= limit:
                    return Fitted(text, asked, tuple(one.section for one in spare[:number]))
        asked = _LARGER.get(asked)
    raise ContextOverflow(
        f"a prompt for the {role} holds {tokens:,} tokens, more than any tier's limit; raise [context] in "
        "criticality.toml if the models take more, or make the system smaller",
        tokens,
        limits.of(role),
    )


async def in_parts(item: str, modules: Sequence[str], ask: Callable[[str, str], Awaitable[T]]) -> list[T]:
    """Return the answers of an audit: one to the whole, or one to each part where no tier holds the whole.

    Only audits are done in parts: who implements must see all. Each part is at most 80% of the tier's limit, ends
    where a module ends, and begins with the last ten lines of the part before it where
    there is room. What any part finds is found.

    Args:
        item: what is audited; parts add their number to it.
        modules: a text for each module.
        ask: puts the question about an item and a text.

    Raises:
        ContextOverflow: one module is too long even alone.
    """
    whole = "\n".join(modules)
    try:
        return [await ask(item, whole)]
    except ContextOverflow as overflow:
        divided = parts(modules, int(overflow.limit * _CHUNK) - (overflow.tokens - estimate_tokens(whole)))
    return [await ask(f"{item}-part-{number}", text) for number, text in enumerate(divided, start=1)]


def parts(modules: Sequence[str], room: int) -> list[str]:
    """Texts of modules in as few parts as fit into ``room`` tokens each.

    Raises:
        ContextOverflow: one module alone is larger.
    """
    parts: list[str] = []
    for text in modules:
        if parts and estimate_tokens(f"{parts[-1]}\n{text}") <= room:
            parts[-1] = f"{parts[-1]}\n{text}"
            continue
        overlap = parts[-1].splitlines()[-OVERLAP:] if parts else []
        while overlap and estimate_tokens("\n".join([*overlap, text])) > room:
            del overlap[0]
        parts.append("\n".join([*overlap, text]))
        if (alone := estimate_tokens(text)) > room:
            raise ContextOverflow(
                f"one module's contracts hold {alone:,} tokens, more than an audit has room for beside the "
                "specification; raise [context] in criticality.toml if the models take more, or make it smaller",
                alone,
                max(0, room),
            )
    return parts
