"""What OpenRouter says that an attempt cost which broke off here: its record of the generation."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Awaitable, Callable
from urllib.parse import quote

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError
from llm_runtime.http import Http
from llm_runtime.http.shape import amount, count, mapping
from llm_runtime.messages import Generate, Reply, Request, Usage

#: Seconds before each question: the record is there a moment after the generation's end.
_PAUSES = (0.0, 1.0, 3.0)


def settled_by_record(
    generate: Generate, endpoint: Endpoint, http: Http, sleep: Callable[[float], Awaitable[None]]
) -> Generate:
    """Look up what an attempt cost that broke off after OpenRouter had named it; where it does not say, go on.

    Source: OpenRouter's documentation, "Get a generation" (``GET /generation?id=``).
    """

    async def call(request: Request) -> Reply:
        try:
            return await generate(request)
        except CallError as error:
            partial = error.partial
            if partial is not None and partial.cost is None and (partial.request_id or "").startswith("gen-"):
                error.partial = await _recorded(partial, endpoint, http, sleep)
            raise

    return call


async def _recorded(partial: Reply, endpoint: Endpoint, http: Http, sleep: Callable[[float], Awaitable[None]]) -> Reply:
    for pause in _PAUSES:
        await sleep(pause)
        try:
            body = await http.get_json(endpoint, f"/generation?id={quote(partial.request_id or '', safe='')}")
        except CallError as error:
            if error.status == 404:
                continue
            return partial
        record = mapping(mapping(body).get("data"))
        cost = amount(record.get("total_cost"))
        if cost is None:
            return partial
        asked, answered = count(record.get("tokens_prompt")), count(record.get("tokens_completion"))
        known = Usage(asked, answered) if asked is not None and answered is not None else partial.usage
        return dataclasses.replace(partial, usage=known, cost=math.ceil(round(cost * 1e6, 6)), cost_source="provider")
    return partial
