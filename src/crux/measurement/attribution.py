"""Can texts be told apart by who they are from? A nearest-centroid classifier, against shuffled labels."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any

from crux.extras import library
from crux.measurement.share import Share, share
from crux.results import CamelModel

_SHUFFLES = 200
_WORD = re.compile(r"\w+")


class Attribution(CamelModel):
    """How often the classifier named the right person.

    Args:
        accuracy: with its interval.
        chance: 1 / number of persons.
        shuffled: mean accuracy with labels shuffled among the texts, where that was done.
        p_value: (1 + shuffles at least as accurate) / (1 + shuffles); a permutation test (Phipson & Smyth 2010).
    """

    accuracy: Share
    chance: float
    shuffled: float | None = None
    p_value: float | None = None


def attribute(
    known: Sequence[tuple[str, str]], unknown: Sequence[tuple[str, str]], *, analyzer: str = "char_wb"
) -> Attribution:
    """Train on ``known``, name the authors of ``unknown``; both are (person, text).

    Each person's centroid is the mean of their texts' TF-IDF vectors, of character 3-grams within words by default;
    a text is given to the centroid of the highest cosine (Burrows's idea of authorship with n-grams: Kešelj 2003).
    """
    persons = sorted({person for person, _ in known})
    if len(persons) < 2 or not unknown:
        return Attribution(accuracy=share(()), chance=1 / max(1, len(persons)))
    vectors = _vectors([text for _, text in (*known, *unknown)], analyzer)
    train, test = vectors[: len(known)], vectors[len(known) :]
    centroids = _centroids(train, [person for person, _ in known], persons)
    named: list[int] = (test @ centroids.T).argmax(axis=1).tolist()
    right = (persons[place] == person for place, (person, _) in zip(named, unknown, strict=True))
    return Attribution(accuracy=share(right), chance=1 / len(persons))


def tell_apart(texts: Sequence[tuple[str, str]], *, seed: int, analyzer: str = "word") -> Attribution:
    """Name each text from all others; then with labels shuffled, for what chance would give.

    Args:
        texts: (person, text); persons with a single text are left out.
        seed: of the shuffles.
    """
    counts = [person for person, _ in texts]
    usable = [(person, text) for person, text in texts if counts.count(person) > 1]
    persons = sorted({person for person, _ in usable})
    if len(persons) < 2:
        return Attribution(accuracy=share(()), chance=1 / max(1, len(persons)))
    vectors = _vectors([text for _, text in usable], analyzer)
    labels = [person for person, _ in usable]
    right = _left_out(vectors, labels, persons)
    rng = random.Random(seed)
    controls: list[float] = []
    for _ in range(_SHUFFLES):
        rng.shuffle(labels)
        controls.append(sum(_left_out(vectors, labels, persons)) / len(labels))
    accuracy = sum(right) / len(right)
    return Attribution(
        accuracy=share(right),
        chance=1 / len(persons),
        shuffled=sum(controls) / len(controls),
        p_value=(1 + sum(control >= accuracy for control in controls)) / (1 + len(controls)),
    )


def _vectors(texts: Sequence[str], analyzer: str) -> Any:
    """Return a row a text: 1 + ln(count), times inverse document frequency, to unit length."""
    np = library("numpy", "telling texts apart")
    counts = [Counter(_parts(text, analyzer)) for text in texts]
    columns = {part: place for place, part in enumerate(sorted({part for count in counts for part in count}))}
    rows = np.zeros((len(texts), max(1, len(columns))))
    for row, count in zip(rows, counts, strict=True):
        for part, number in count.items():
            row[columns[part]] = 1 + log(number)
    rows *= np.log((1 + len(texts)) / (1 + (rows > 0).sum(axis=0))) + 1
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def _parts(text: str, analyzer: str) -> list[str]:
    """Return a text's words of two letters or more; or all triples of characters in its words, edges included."""
    words = _WORD.findall(text.lower())
    if analyzer == "word":
        return [word for word in words if len(word) > 1]
    padded = [f" {word} " for word in text.lower().split()]
    return [word[at : at + 3] for word in padded for at in range(len(word) - 2)]


def _centroids(vectors: Any, labels: Sequence[str], persons: Sequence[str]) -> Any:
    np = library("numpy", "telling texts apart")
    rows = [
        vectors[[place for place, label in enumerate(labels) if label == person]].mean(axis=0) for person in persons
    ]
    stacked = np.stack(rows)
    return stacked / np.maximum(np.linalg.norm(stacked, axis=1, keepdims=True), 1e-12)


def _left_out(vectors: Any, labels: Sequence[str], persons: Sequence[str]) -> list[bool]:
    """Tell whether each text is nearest to the centroid of its label's other texts."""
    np = library("numpy", "telling texts apart")
    places = np.array([persons.index(label) for label in labels])
    one_hot = np.eye(len(persons))[places]
    sums = one_hot.T @ vectors
    # cos(x, sum - x) for the own label, cos(x, sum) for the others; the length of x is the same for all.
    lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-12)
    scores = vectors @ sums.T / lengths
    own = sums[places] - vectors
    own_scores = (vectors * own).sum(axis=1) / np.maximum(np.linalg.norm(own, axis=1), 1e-12)
    scores[np.arange(len(labels)), places] = own_scores
    return (scores.argmax(axis=1) == places).tolist()
