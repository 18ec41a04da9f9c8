"""Scripted judges that know the form of an answer: the id of the question, and the words that fit the scores."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from llm_runtime.messages import Generate, Message, Reply, Request
from llm_runtime.objects import Objects
from llm_runtime.providers.scripted import scripted

_ID = re.compile(r'"request": "([0-9a-f]{8})"')


ID = "(the id of the question)"
"""What scripted answers hold in the place of the id."""


def request_id(messages: Sequence[Message]) -> str:
    """The id that an answer must name; empty where none is asked for."""
    return next((found[-1] for one in messages if one.role == "user" and (found := _ID.findall(one.content))), "")


def words(scores: Any) -> str:
    """The word for these scores."""
    if scores["falsehood"] >= 0.5:
        return "violates"
    return "keeps" if scores["falsehood"] < scores["truth"] else "cannot tell"


def bound(text: str, named: str) -> str:
    """Return an answer with what its form asks for beside the scores; an object that names a request stays."""
    text = text.replace(ID, named) if named else text
    parts, at = list[str](), 0
    for place in Objects(text) if named else ():
        data = place.data
        if data is None or "request" in data or not ({"falsehood", "abstain"} & data.keys()):
            continue
        own: dict[str, Any] = {"request": named}
        if all(isinstance(data.get(name), int | float) for name in ("truth", "falsehood")):
            own |= {"verdict": words(data), "conclusion": words(data)}
        parts += [text[at : place.start], json.dumps({**own, **data}, ensure_ascii=False)]
        at = place.end
    return "".join([*parts, text[at:]])


def binding(model: Generate, put: Callable[[str, str], str] = bound) -> Generate:
    """Return a model whose answers are in the form that circles ask for."""

    async def answer(request: Request) -> Reply:
        reply = await model(request)
        return dataclasses.replace(reply, text=put(reply.text, request_id(request.messages)))

    return answer


def named(text: str, request: str) -> str:
    """An answer with the id where it has a place for it; nothing else of it is changed."""
    return text.replace(ID, request)


def scripted_judges(script: Callable[[Request], Any]) -> Generate:
    """A scripted model whose answers are in the form that circles ask for."""
    return binding(scripted(script))
