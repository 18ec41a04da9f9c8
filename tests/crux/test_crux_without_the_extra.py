"""What works without the libraries of the extra, and the one line where something does not."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

from crux.building import build_calls, build_persona
from crux.claims.reading import batches_of
from crux.extras import library
from crux.personas.corpus import make_corpus
from crux.retrieval.lexical import Lexical
from crux.sources.utterance import Utterance
from llm_runtime.errors import MissingExtraError
from llm_runtime.testing import ScriptedModel

HEAVY = ("numpy", "bm25s", "Stemmer", "sentencex", "py3langid", "aiohttp", "rich", "click")


def test_importing_crux_touches_only_pydantic() -> None:
    code = (
        "import sys, crux, crux.personas.importing, crux.insight.crux_graph, crux.measurement.recurrence;"
        "import crux.exports.claims, crux.card_changes, crux.estimate;"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.fixture
def no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra was never installed."""
    real = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name.partition(".")[0] in HEAVY:
            raise ImportError(name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)


def test_a_missing_extra_is_one_line_with_the_command(no_extra: None) -> None:
    with pytest.raises(MissingExtraError, match=r"^retrieval needs an optional part; .*\[debate\]"):
        Lexical.of(["words"])
    with pytest.raises(MissingExtraError, match="debate"):
        library("sentencex", "finding sentences")


async def test_a_build_without_the_extra_says_so(no_extra: None, plain_reader: ScriptedModel) -> None:
    corpus = make_corpus([Utterance(id="a", source="essay", text="The queue is a price.")])
    with pytest.raises(MissingExtraError, match="building a persona needs"):
        await build_persona("Ann Ash", corpus, generate=plain_reader)
    assert plain_reader.requests == []


def test_a_build_says_beforehand_how_many_calls_it_takes() -> None:
    words = " ".join(f"The queue of day {n} is a price that is paid in minutes by whoever waits." for n in range(90))
    corpus = make_corpus(
        [Utterance(id=f"t{n}", source="essay", text=words.replace("day", f"street {n}, day")) for n in range(12)]
    )
    whole = build_calls("Ann Ash", corpus)
    assert (whole.contract, whole.reading) == (9, len(batches_of(corpus)))
    assert whole.total == 9 + whole.reading + whole.linking and whole.linking >= 2
    assert build_calls("Ann Ash", corpus, tokens_a_call=20_000).reading < whole.reading
