"""The five protocols in plain words: what each is for, how it goes, and what its recording is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guide:
    """A protocol to whoever never heard of it.

    Args:
        protocol: of its runs.
        form: whose form starts one.
        gets: what a person gets from it.
        goes: how it comes about.
        shows: what its recording is about, and how long it takes to play.
    """

    name: str
    protocol: str
    form: str
    recording: str
    gets: str
    goes: str
    shows: str


GUIDES = (
    Guide(
        "Crucible",
        "crucible",
        "crucible",
        "council",
        "An answer that survived a council and a red team.",
        "Several models take positions on your question, a red team attacks them, they revise, for two to five "
        "loops; what is left is written up as one answer.",
        "Twelve engineers ask whether to leave their monolith. Half a minute.",
    ),
    Guide(
        "Fire Circle",
        "fire_circle",
        "fire_circle",
        "circle",
        "A verdict on a prompt, with the sentences it rests on.",
        "Models judge a prompt alone, then read each other and must quote what they mean; one speaks for those who "
        "are absent. Patterns that only the dialogue found are named.",
        "A friendly booking refers to a conversation that never was. A quarter of a minute.",
    ),
    Guide(
        "AI Crucible",
        "trial",
        "trial",
        "trial",
        "How reliably a model solves sealed puzzles.",
        "Each attempt is made in a box of its own and graded in another, which the model cannot reach; every one "
        "counts, with intervals, and stands in a log that shows tampering.",
        "Three solvers, two attempts each; one of them only pretends. Half a minute.",
    ),
    Guide(
        "Criticality",
        "criticality",
        "criticality",
        "build",
        "Working code from an interview, with a trace from each claim to the test that shows it.",
        "You are asked, an architect proposes, an auditor objects, you approve. Then contracts and tests are made "
        "before any code, and only functions that pass theirs are kept.",
        "Shared expenses among friends, from eight answers. Some minutes: its type checks and tests really run.",
    ),
    Guide(
        "Crux",
        "crux",
        "crux",
        "debate",
        "Why people disagree, and what would change their minds.",
        "Authors argue from their own texts; where they clash, a room of its own digs for the question on which "
        "both turn. It ends in crux cards with verbatim quotes.",
        "Two invented authors on software that decides who waits. Two minutes.",
    ),
)

HOW_IT_GOES = {guide.protocol: guide.goes for guide in GUIDES}
"""By protocol: how it comes about."""
