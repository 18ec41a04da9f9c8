"""The commits whose code makes a store, oldest first, what each is there for, and which rare runs it has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Past:
    """One store.

    Args:
        commit: whose code makes it.
        why: what it is the first to do.
        rare: names of steps that only some stores have.
    """

    commit: str
    why: str
    rare: tuple[str, ...] = ()


_OLDEST = (
    *("dispute", "similarity", "opposed", "short", "circle of one", "circle with history", "circle of layers"),
    *("circle forked", "circle stumbling", "debate forked", "debate tested", "debate stumbling"),
)
PAST = (
    Past("70307c95", "version 0.1.0: settings have an engine, passages are found by TF-IDF, heads are files", _OLDEST),
    Past("a2edcab9", "options and terms in the log; studies, persona builds, fidelity are runs", ("study", "fidelity")),
    Past("25b0c1f7", "triage asks by schema and grammar", ("short", "opposed", "circle stumbling")),
    Past("f0a41a4a", "triage names lines of models and may fall back; panels for councils", ("dispute",)),
    Past(
        "13407aa3", "judges may name attacks from a list", ("circle forked", "circle with history", "circle of layers")
    ),
    Past(
        "22b1c59d",
        "passages are found by BM25, a judge weighs what a debate says of itself; two authors are compared",
        ("debate forked", "debate tested", "debate stumbling", "authors", "fidelity", "circle with history"),
    ),
    Past(
        "b2fb1095",
        "seats have letters, critiques are numbered, a clerk writes a ledger; attachments, follow-ups",
        ("dispute", "similarity", "review", "followed"),
    ),
    Past("8f07eb06", "more methods of comparing, at equal spend", ("compared panels",)),
    Past(
        "76c12319",
        "circles with policies, answers and recall; trust is told only where it was measured",
        ("circle with a policy", "circle on an answer", "circle of one", "circle with history", "circle stumbling"),
    ),
    Past("34f998ed", "personas come from claim books; links and issues are judged in one way", ("authors",)),
    Past("45edf222", "a reading says first whether a passage holds a claim", ("authors", "fidelity")),
    Past("bc782391", "councils ask again with their own texts cut; heads are rows", ("authors", "pairs")),
    Past("bebe9e04", "the answer sheet of compare; a run's bodies are one stream", ("compared panels", "tools")),
    Past("9d1588c9", "what somebody says on the way, under its first name", ("council told", "tools")),
    Past(
        "223f95a7", "the last without numbers", ("council told", "review", "followed", "authors", "pairs", "fidelity")
    ),
)
#: What the name of a store in PostgreSQL ends in.
OVER_POSTGRESQL = "-postgresql"
#: Those of whose code a store in PostgreSQL is made, too: one for each form of its tables before owners had rows.
IN_POSTGRESQL = {"70307c95": 1, "22b1c59d": 2, "bc782391": 3, "223f95a7": 4}
