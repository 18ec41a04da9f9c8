"""Who answers a call: a person, a model at an endpoint, a mailbox, a program, or a recording."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from llm_runtime.structs import Struct

AnswererKind: TypeAlias = Literal["person", "model", "mailbox", "program", "recording"]

_KINDS: dict[str, AnswererKind] = {"terminal": "person", "mailbox": "mailbox", "tool": "program", "demo": "recording"}


class Answerer(Struct):
    """Who answers, as a log says it and every view shows it; nothing in it is a path of this machine.

    Args:
        kind: what answers.
        name: the person's, the model's, the tool's, the recording's; the last name of a mailbox's folder. It may be
            empty.
        endpoint: where a model is served; empty for all others.
    """

    kind: AnswererKind
    name: str = ""
    endpoint: str = ""

    @staticmethod
    @lru_cache(maxsize=256)  # every call of a run says who answers
    def of(provider: str, model: str) -> Answerer:
        """Return who answers for ``model`` at ``provider``, names as a route or a reply has them."""
        kind = _KINDS.get(provider, "model")
        if kind == "mailbox":
            model = model.replace("\\", "/").rstrip("/").rpartition("/")[2]
        endpoint = urlsplit(provider).netloc.rpartition("@")[2] if "://" in provider else provider
        return Answerer(kind=kind, name=model.removeprefix("tool:"), endpoint=endpoint if kind == "model" else "")

    @classmethod
    def of_reply(cls, reply: Mapping[str, object]) -> Answerer | None:
        """Return who gave a recorded reply; ``None`` where it does not say."""
        provider, model = str(reply.get("provider") or ""), str(reply.get("model") or "")
        return cls.of(provider, model) if provider or model else None

    @property
    def words(self) -> str:
        """The same for people: ``"ollama:qwen3"``, ``"Ann"``, ``"a mailbox (letters)"``."""
        if self.kind == "model":
            return ":".join(part for part in (self.endpoint, self.name) if part)
        if self.kind == "person":
            return self.name or "a person"
        return f"a {self.kind} ({self.name})" if self.name else f"a {self.kind}"


def named_words(model: str) -> str:
    """Say whom a model's specification names, without paths of this machine."""
    head, colon, rest = model.partition(":")
    return Answerer.of(head, rest).words if colon and head in _KINDS else model


def asked_words(model: str) -> str:
    """Say whom a request asks for, where nobody knows who answers: a wish."""
    return f"asked for {named_words(model)}" if model else "asked"
