"""Vectors of a model of the user's: behind an endpoint's ``/embeddings``, or fastembed on this machine (CX19)."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from crux.config import CruxConfigurationError
from crux.extras import library
from crux.retrieval.tokens import FEATURE
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import StoreUnwritable
from llm_runtime.extras import needing
from llm_runtime.files import saying
from llm_runtime.http import Http

Role: TypeAlias = Literal["query", "passage"]
Vectors: TypeAlias = Sequence[Sequence[float]]
#: The model of fastembed that is used where none is named: fifty languages, 0.22 GB.
SMALL_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
_BATCH = 64


class Embed(Protocol):
    """A way to turn texts into vectors of one length; ``name`` tells it from others."""

    name: str

    async def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one vector a text, in order."""
        ...


class EndpointEmbed:
    """A model behind an OpenAI-compatible ``/embeddings``, as Ollama and most servers have.

    Args:
        http: the runtime's client.
        endpoint: where it listens.
        model: as the server knows it.

    Raises, when asked:
        CallError: the server refused or could not be reached.
        CruxConfigurationError: it answered with something else than a vector a text.
    """

    def __init__(self, http: Http, endpoint: Endpoint, model: str) -> None:
        self.name = f"{endpoint.name}:{model}"
        self._http, self._endpoint, self._model = http, endpoint, model

    async def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            body = {"model": self._model, "input": batch}
            answer, _ = await self._http.post_json(self._endpoint, "/embeddings", body, model=self._model)
            vectors += self._read(answer, len(batch))
        return vectors

    def _read(self, answer: Any, count: int) -> list[list[float]]:
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            rows = sorted(answer["data"], key=lambda row: row.get("index", 0))
            vectors = [[float(part) for part in row["embedding"]] for row in rows]
            if len(vectors) == count and all(vectors):
                return vectors
        raise CruxConfigurationError(
            f"{self.name} gave no vector for each of {count} texts; name a model for embeddings"
        )


class FastEmbed:
    """A model of the library fastembed; looked for on this machine alone: a download is for a person to start.

    Raises:
        MissingExtraError: the extra ``dense`` is not installed.
        CruxConfigurationError: the model is not on this machine; says how to get it.
    """

    def __init__(self, model: str = SMALL_MODEL) -> None:
        self.name = f"fastembed:{model}"
        with needing("embeddings on this machine", "dense"):
            kind: Any = importlib.import_module("fastembed").TextEmbedding
        try:
            self._model = kind(model_name=model, local_files_only=True)
        except Exception as fault:
            reason = " ".join(str(fault).split())[:160]
            raise CruxConfigurationError(
                f'{model} is not on this machine ({reason}); get it once with: python -c "from fastembed import '
                f"TextEmbedding; TextEmbedding('{model}')\""
            ) from None

    async def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        make = self._model.query_embed if role == "query" else self._model.passage_embed
        return await asyncio.to_thread(lambda: [row.tolist() for row in make(list(texts))])


class Rows:
    """The vectors of many texts, to unit length; kept in one file by model and texts.

    Args:
        embed: the model.
        texts: what is laid out.
        folder: where the file goes; None keeps it in memory.
    """

    def __init__(self, embed: Embed, texts: Sequence[str], folder: Path | None) -> None:
        self._embed, self._texts, self._folder = embed, texts, folder
        self._once = asyncio.Lock()
        self._rows: Any = None

    async def likeness(self, query: str) -> Any:
        """Return the cosine of each text with a query, as an array.

        Raises:
            StoreUnwritable: the vectors cannot be kept.
        """
        async with self._once:
            if self._rows is None:
                self._rows = await self._laid_out()
        (wanted,) = _unit(await self._embed.vectors([query], "query"))
        return self._rows @ wanted

    async def _laid_out(self) -> Any:
        np = library("numpy", FEATURE)
        path = self._path()
        if path is not None and path.is_file():
            with suppress(OSError, ValueError, EOFError):  # damaged: made anew
                rows = np.load(path, allow_pickle=False)
                if len(rows) == len(self._texts):
                    return rows
        rows = _unit(await self._embed.vectors(self._texts, "passage"))
        if path is not None:
            with saying("vectors cannot be kept", StoreUnwritable):
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(".part.npy")
                np.save(part, rows, allow_pickle=False)
                part.replace(path)
        return rows

    def _path(self) -> Path | None:
        if self._folder is None:
            return None
        whole = hashlib.sha256(self._embed.name.encode())
        for text in self._texts:
            whole.update(b"\0" + text.encode())
        return self._folder / f"{whole.hexdigest()[:32]}.npy"


def _unit(vectors: Vectors) -> Any:
    np = library("numpy", FEATURE)
    rows = np.asarray(vectors, dtype=np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def embed_of(spec: str, endpoint: Embed | None = None) -> Embed | None:
    """Return the embedder that ``none``, ``endpoint:MODEL`` or ``fastembed[:MODEL]`` names.

    Args:
        spec: what a user wrote.
        endpoint: the embedder of an endpoint, where ``spec`` names one: whoever knows addresses and keys makes it.

    Raises:
        CruxConfigurationError: it is none of these, or not on this machine.
    """
    kind, _, model = spec.partition(":")
    if spec in ("", "none"):
        return None
    if kind == "fastembed":
        return FastEmbed(model or SMALL_MODEL)
    if kind == "endpoint" and endpoint is not None:
        return endpoint
    raise CruxConfigurationError(f"embed: {spec[:60]} is none of none, endpoint:MODEL, fastembed, fastembed:MODEL")
