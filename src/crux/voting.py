"""Readers' votes on claims, and the groups in which readers vote alike, found as Polis does.

A reader agrees, disagrees or passes. Votes are laid out as readers by claims, a claim not seen at its mean; then
two principal components, stretched for readers who saw few claims; then k-means for two to five groups, as many as
the silhouette finds furthest apart (Small et al. 2021, "Polis: Scaling deliberation by mapping high
dimensional opinion spaces"). Some grouping is always the best, of noise too: groups are shown only where they stand
further apart than those of tables in which each claim's votes were shuffled among its readers. Groups smaller than
a few readers are not shown: they would name persons.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import erfc, sqrt
from pathlib import Path
from typing import Any, Literal, TypeAlias

from crux.extras import library
from crux.results import CamelModel
from llm_runtime.errors import StoreUnwritable
from llm_runtime.files import saying

Vote: TypeAlias = Literal["agree", "disagree", "pass"]
Votes: TypeAlias = Mapping[str, Mapping[str, Vote]]
"""By reader, by claim."""
LEAST_READERS, LEAST_SEEN, LEAST_GROUP, MOST_GROUPS = 8, 7, 3, 5
_SIGNS: dict[Vote, float] = {"agree": 1.0, "disagree": -1.0, "pass": 0.0}
_TURNS = 100
#: Tables that are shuffled, and how many of them may stand as far apart as the real one: 2%, so well under 5%.
_SHUFFLES, _AS_FAR = 99, 1
#: The share of false ones among the claims that are said to set groups apart (Benjamini, Hochberg 1995).
_FALSE, _MOST_CLAIMS = 0.05, 5


class Standpoint(CamelModel):
    """A claim that sets a group apart: the share of its readers that agree, and that of all others."""

    claim: str
    inside: float
    outside: float


class ReaderGroup(CamelModel):
    """Readers who vote alike; ``claims`` are those that set them apart, the furthest first."""

    readers: int
    claims: tuple[Standpoint, ...]


class Groups(CamelModel):
    """What was found. ``why`` says why there are no groups; ``common`` are claims that
    every group agrees on, or all readers where there are none."""

    readers: int
    counted: int
    groups: tuple[ReaderGroup, ...] = ()
    common: tuple[str, ...] = ()
    why: str = ""


def cast_vote(file: Path, reader: str, claim: str, vote: Vote, most: int = 8 * 2**20) -> None:
    """Add a vote to a file; the last that a reader gave on a claim counts.

    Raises:
        StoreUnwritable: it cannot be written, or has ``most`` bytes: a link may fall into the hands of a program.
    """
    with saying(f"{file.name} cannot be written", StoreUnwritable):
        if file.is_file() and file.stat().st_size > most:
            raise StoreUnwritable("no more votes are taken here: there are too many")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"reader": reader, "claim": claim, "vote": vote}) + "\n")


def read_votes(file: Path) -> dict[str, dict[str, Vote]]:
    """Return all votes of a file; a line that is damaged is passed over."""
    votes: dict[str, dict[str, Vote]] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ():
        with suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            reader, claim, vote = str(entry["reader"]), str(entry["claim"]), entry["vote"]
            if vote in _SIGNS:
                votes.setdefault(reader, {})[claim] = vote
    return votes


def reader_groups(votes: Votes, claims: Sequence[str]) -> Groups:
    """Return the groups of readers.

    Args:
        claims: ids, in the order of the page.

    Raises:
        MissingExtraError: numpy is not installed.
    """
    np = library("numpy", "groups of readers")
    least = min(LEAST_SEEN, len(claims))
    rows = [[_SIGNS[own[claim]] if claim in own else np.nan for claim in claims] for own in votes.values()]
    table = np.array(rows, dtype=float).reshape(len(rows), len(claims))
    table = table[(~np.isnan(table)).sum(axis=1) >= max(least, 1)]
    groups = Groups(readers=len(rows), counted=len(table))
    if len(table) < LEAST_READERS:
        why = f"{LEAST_READERS} readers with {least} votes each are needed; there are {len(table)}"
        return groups.model_copy(update={"why": why})
    score, labels = _parted(np, table)
    if labels is None:
        why = f"no two groups of {LEAST_GROUP} readers or more stand apart"
    elif _by_chance(np, table, score):
        why = "votes cast at random would part these readers as well"
    else:
        return groups.model_copy(update=_described(np, table, labels, claims))
    shared = _described(np, table, np.zeros(len(table), dtype=int), claims)["common"]
    return groups.model_copy(update={"why": why, "common": shared})


def _parted(np: Any, table: Any) -> tuple[float, Any]:
    """Return how far the best groups stand apart, and the group of each reader; None where there are none."""
    points = _projected(np, table)
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    best: tuple[float, Any] = (-1.0, None)
    for count in range(2, min(MOST_GROUPS, len(table) // LEAST_GROUP) + 1):
        labels = _clustered(np, points, count)
        if min(np.bincount(labels, minlength=count)) >= LEAST_GROUP:
            best = max(best, (_silhouette(np, distances, labels), labels), key=lambda one: one[0])
    return best


def _by_chance(np: Any, table: Any, score: float) -> bool:
    """Tell whether tables whose columns are shuffled part as well: each claim keeps its votes, and who saw it."""
    lot, seen, as_far = np.random.default_rng(0), ~np.isnan(table), 0
    for _ in range(_SHUFFLES):
        shuffled = table.copy()
        for claim in range(table.shape[1]):
            shuffled[seen[:, claim], claim] = lot.permutation(table[seen[:, claim], claim])
        as_far += _parted(np, shuffled)[0] >= score
        if as_far > _AS_FAR:
            return True
    return False


def _projected(np: Any, table: Any) -> Any:
    seen = ~np.isnan(table)
    means = np.where(seen, table, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, table, means) - means
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    return centred @ components[:2].T * np.sqrt(table.shape[1] / seen.sum(axis=1))[:, None]


def _clustered(np: Any, points: Any, count: int) -> Any:
    """Return k-means labels; it begins with the point furthest out, then those furthest from all before."""
    centres = [points[np.argmax((points**2).sum(axis=1))]]
    while len(centres) < count:
        nearest = np.min([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=0)
        centres.append(points[np.argmax(nearest)])
    labels = np.zeros(len(points), dtype=int)
    for _ in range(_TURNS):
        fresh = np.argmin([((points - centre) ** 2).sum(axis=1) for centre in centres], axis=0)
        if _ and (fresh == labels).all():
            break
        labels = fresh
        centres = [points[labels == n].mean(axis=0) if (labels == n).any() else centres[n] for n in range(count)]
    return labels


def _silhouette(np: Any, distances: Any, labels: Any) -> float:
    """Return the mean silhouette (Rousseeuw 1987), -1 to 1."""
    member = np.eye(labels.max() + 1)[labels]
    sizes, sums, rows = member.sum(axis=0), distances @ member, np.arange(len(labels))
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    means = sums / sizes
    means[rows, labels] = np.inf
    other = means.min(axis=1)
    return float(((other - own) / np.maximum(np.maximum(own, other), 1e-12)).mean())


def _described(np: Any, table: Any, labels: Any, claims: Sequence[str]) -> dict[str, Any]:
    agreed, seen = table == 1.0, ~np.isnan(table)

    def shares(mask: Any) -> tuple[Any, Any]:
        n = seen[mask].sum(axis=0)
        return (agreed[mask].sum(axis=0) + 1) / (n + 2), n + 2

    held = np.ones(len(claims), dtype=bool)
    sizes, rows = list[int](), list[tuple[Any, Any, list[float]]]()
    for label in sorted(set(labels.tolist()), key=lambda one: -int((labels == one).sum())):
        (inside, n_in), (outside, n_out) = shares(labels == label), shares(labels != label)
        held &= inside > 0.6
        pooled = (inside * n_in + outside * n_out) / (n_in + n_out)
        apart = (inside - outside) / np.sqrt(pooled * (1 - pooled) * (1 / n_in + 1 / n_out))
        sizes.append(int((labels == label).sum()))
        rows.append((inside, outside, [erfc(abs(float(one)) / sqrt(2)) for one in apart]))
    most = _least_chance(chance for _, _, chances in rows for chance in chances)
    groups: list[ReaderGroup] = []
    for readers, (inside, outside, chances) in zip(sizes, rows, strict=True):
        order = sorted((at for at in range(len(claims)) if chances[at] <= most), key=lambda at: chances[at])
        standpoints = tuple(
            Standpoint(claim=claims[at], inside=round(float(inside[at]), 3), outside=round(float(outside[at]), 3))
            for at in order[:_MOST_CLAIMS]
        )
        groups.append(ReaderGroup(readers=readers, claims=standpoints))
    return {"groups": tuple(groups), "common": tuple(c for c, all_ in zip(claims, held, strict=True) if all_)}


def _least_chance(chances: Iterable[float]) -> float:
    """Return up to which chance differences count, so that at most :data:`_FALSE` of them are none."""
    ordered = sorted(chances)
    kept = (one for rank, one in enumerate(ordered, 1) if one <= _FALSE * rank / len(ordered))
    return max(kept, default=-1.0)
