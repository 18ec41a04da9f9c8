"""Merging beliefs by meaning: likeness proposes, opposite polarity vetoes, a model has the last word (CX16).

Merging equal strings only is how the public attempt came to 3,861 nodes in 1,846 components.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, Field

from crux.config import ModelTable
from crux.extras import library
from crux.personas.extraction import concept as one_line
from crux.polarity import opposed
from crux.requests import request
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt

#: Average cosine distance within a cluster of concepts that likeness alone may merge.
CLOSE = 0.45
#: Concepts that a model is shown at once: neighbours, so that what belongs together is seen together.
BATCH = 60
_FEATURE = "merging beliefs"
_ARTICLES = re.compile(r"\b(the|a|an)\b|[^\w\s']")


class Group(BaseModel):
    """Concepts that a model holds to be one belief."""

    members: list[int] = Field(max_length=BATCH)
    concept: str = Field(min_length=3, max_length=600)


class Groups(BaseModel):
    """The answer for one batch."""

    groups: list[Group] = Field(max_length=BATCH)


class Concepts:
    """Concepts and what they were merged into; names are what the texts gave, kept in order of first appearance."""

    def __init__(self, concepts: Sequence[str]) -> None:
        self._home: dict[str, str] = {}
        first: dict[str, str] = {}
        for text in concepts:
            self._home.setdefault(text, first.setdefault(_key(text), text))
        self.vetoed = 0

    @property
    def names(self) -> list[str]:
        """The concepts that stand after all merges."""
        return list(dict.fromkeys(map(self.home, self._home)))

    def home(self, concept: str) -> str:
        """Return what a concept was merged into; itself where it was not."""
        while (next_home := self._home.get(concept, concept)) != concept:
            concept = next_home
        return concept

    def merge(self, members: Sequence[str], name: str = "") -> None:
        """Make one of ``members``, but for those that oppose the first: these stay apart, and are counted."""
        homes = list(dict.fromkeys(map(self.home, members)))
        if len(homes) < 2:
            return
        joined = [homes[0]]
        for other in homes[1:]:
            if any(opposed(other, one) for one in joined):
                self.vetoed += 1
            else:
                joined.append(other)
        if len(joined) < 2:
            return
        target = name if name and not any(opposed(name, one) for one in joined) else joined[0]
        self._home.setdefault(target, target)
        if self._home[target] != target and target not in joined:
            target = joined[0]
        for one in joined:
            self._home[one] = target
        self._home[target] = target


def merge_alike(concepts: Concepts) -> None:
    """Merge what is alike in its letters: average-linkage clusters of character n-grams (3 to 5, within words)."""
    names = concepts.names
    if len(names) < 2:
        return
    for members in _clusters(names):
        concepts.merge([names[place] for place in members])


def batches(concepts: Concepts) -> list[list[str]]:
    """Return all concepts in batches of neighbours, to show to a model: leaves of the cluster tree, in order."""
    names = concepts.names
    if len(names) < 2:
        return []
    order = _leaf_order(names) if len(names) > BATCH else range(len(names))
    ordered = [names[place] for place in order]
    return [ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH)]


def merge_request(batch: Sequence[str], persona: str, models: ModelTable, seed: int, number: int) -> Request:
    """Return the question which of a batch are the same belief."""
    label = CallLabel("crux", "merge", persona, number)
    listed = "\n".join(f"{place}: {one_line(text)}" for place, text in enumerate(batch, start=1))
    text = load_prompt("crux.personas", "merge").render(concepts=Fence(seed, label)("BELIEFS", listed))
    return request(models, "extraction", label, text)


def apply(answer: Groups, batch: Sequence[str], concepts: Concepts) -> None:
    """Merge what a model grouped; numbers that are none, or come twice, are ignored."""
    taken: set[int] = set()
    for group in answer.groups:
        members = [place for place in group.members if 1 <= place <= len(batch) and place not in taken]
        taken.update(members)
        concepts.merge([batch[place - 1] for place in members], one_line(group.concept))


def _key(concept: str) -> str:
    return " ".join(_ARTICLES.sub(" ", concept.casefold()).split())


def _distances(names: Sequence[str]) -> Any:
    text = library("sklearn.feature_extraction.text", _FEATURE)
    vectors = text.TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit_transform(names)
    likeness = (vectors @ vectors.T).toarray()
    return (1 - likeness).clip(0, 1)


def _clusters(names: Sequence[str]) -> list[list[int]]:
    """Return clusters of two or more, each in order of appearance."""
    found: dict[int, list[int]] = {}
    flat = _hierarchy().fcluster(_tree(names), t=CLOSE, criterion="distance")
    for place, cluster in enumerate(flat.tolist()):
        found.setdefault(cluster, []).append(place)
    return [members for members in found.values() if len(members) > 1]


def _leaf_order(names: Sequence[str]) -> list[int]:
    return _hierarchy().leaves_list(_tree(names)).tolist()


def _tree(names: Sequence[str]) -> Any:
    distances = _distances(names)
    for place in range(len(names)):
        distances[place, place] = 0.0
    condensed = library("scipy.spatial.distance", _FEATURE).squareform((distances + distances.T) / 2, checks=False)
    return _hierarchy().linkage(condensed, method="average")


def _hierarchy() -> Any:
    return library("scipy.cluster.hierarchy", _FEATURE)
