"""How passages are read and found: what may be set of both, the embedder that a run names, the folder of indexes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from assay.protocol import RunContext
from crux.retrieval.embed import Embed, EndpointEmbed, embed_of
from llm_runtime.names import Kind, Names


def _served(text: str) -> list[tuple[Kind, str]]:
    kind, _, model = text.partition(":")
    return [("embedder", model)] if kind == "endpoint" else []


EmbedOption: TypeAlias = Annotated[
    str, Field(pattern=r"^(none|endpoint:.{1,300}|fastembed(:.{1,300})?)$"), Names("embedder", _served)
]
Language: TypeAlias = Annotated[str, Field(min_length=2, max_length=40)]
TokensACall: TypeAlias = Annotated[int, Field(ge=200, le=32_000)]


def index_folder() -> Path:
    """Return where indexes of large corpora, and vectors, are kept."""
    from llm_runtime.settings import data_dir

    return data_dir() / "indexes"


async def embedder(spec: str, context: RunContext) -> Embed | None:
    """Return the embedder that ``none``, ``endpoint:MODEL`` or ``fastembed[:MODEL]`` names.

    Raises:
        ConfigurationError: it is not on this machine, nothing that is configured serves it, or it may not be asked.
        MissingExtraError: the library is not installed.
    """
    kind, _, model = spec.partition(":")
    return embed_of(spec, EndpointEmbed(*await context.served(model)) if kind == "endpoint" else None)
