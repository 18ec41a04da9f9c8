"""How passages are read and found: the options of both, the embedder that a run names, the folder of indexes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field

from assay.fields import Ui
from crux.retrieval.embed import Embed, EndpointEmbed, embed_of

EmbedOption: TypeAlias = Annotated[
    str,
    Field(pattern=r"^(none|endpoint:.{1,300}|fastembed(:.{1,300})?)$"),
    Ui(
        help="Find passages by meaning too: endpoint:MODEL of a server, or fastembed[:MODEL] on this machine "
        "[default: none, by words alone].",
        metavar="WITH",
        label="Embeddings",
    ),
]
LanguageOption: TypeAlias = Annotated[
    str, Field(min_length=2, max_length=40), Ui(metavar="NAME", show_default=True, label="Language of the claims")
]
TokensOption: TypeAlias = Annotated[
    int, Field(ge=200, le=32_000), Ui(metavar="N", show_default=True, label="Tokens a call")
]


def index_folder() -> Path:
    """Return where indexes of large corpora, and vectors, are kept."""
    from llm_runtime.settings import data_dir

    return data_dir() / "indexes"


@asynccontextmanager
async def embedder(spec: str) -> AsyncGenerator[Embed | None]:
    """Open the embedder that ``none``, ``endpoint:MODEL`` or ``fastembed[:MODEL]`` names, and close it afterwards.

    Raises:
        ConfigurationError: it is not on this machine, or nothing that is configured serves it.
        MissingExtraError: the library is not installed.
    """
    kind, _, model = spec.partition(":")
    if kind != "endpoint":
        yield embed_of(spec)
        return
    from llm_runtime.http import Http
    from llm_runtime.routing import Router
    from llm_runtime.settings import load_settings

    http = Http()
    try:
        router = Router(load_settings(), http)
        target = await router.resolve(model, named=True)
        yield embed_of(spec, EndpointEmbed(http, await router.endpoint(target.provider), target.model))
    finally:
        await http.aclose()
