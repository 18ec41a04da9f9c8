"""A wire that asks by chat messages and holds nothing beside calls."""

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import MalformedReply
from llm_runtime.http import Http
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.tokens import estimated_usage
from llm_runtime.wires import Link, Wire


def make(link: Link) -> Generate:
    """Return a model function over a link."""

    async def generate(request: Request) -> Reply:
        body = {"messages": [{"role": one.role, "content": one.content} for one in request.messages], "model": "one"}
        answer, _ = await link.http.post_json(link.endpoint, "/v1/chat/completions", body, model=request.model)
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise MalformedReply("no words came", provider=link.endpoint.name, model=request.model) from None
        return Reply(text, request.model, link.endpoint.name, estimated_usage(request, text))

    return generate


async def models(endpoint: Endpoint, http: Http, fresh: float) -> list[dict[str, str]]:
    """Return the one that there is."""
    return [{"id": "one"}]


WIRE = Wire("telegraph", make, frozenset(), models)
