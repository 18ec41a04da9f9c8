"""Readers' votes on claims, and the groups in which readers vote alike, found as Polis does.

A reader agrees, disagrees or passes. Votes are laid out as readers by claims, a claim not seen at its mean; then
two principal components, stretched for readers who saw few claims; then k-means for two to five groups, as many as
the silhouette finds furthest apart (Small et al. 2021, "Polis: Scaling deliberation by mapping high
dimensional opinion spaces"). Groups smaller than a few readers are not shown: they would name persons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from crux.extras import library
from crux.results import CamelModel
from llm_runtime.errors import StoreUnwritable

Vote: TypeAlias = Literal["agree", "disagree", "pass"]
Votes: TypeAlias = Mapping[str, Mapping[str, Vote]]
"""By reader, by claim."""
LEAST_READERS, LEAST_SEEN, LEAST_GROUP, MOST_GROUPS = 8, 7, 3, 5
_SIGNS: dict[Vote, float] = {"agree": 1.0, "disagree": -1.0, "pass": 0.0}
_TURNS = 100
#: A claim stands for a group whose share of votes for it is so many standard errors from that of the others (90%).
_APART, _MOST_CLAIMS = 1.2816, 5


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
    """What was found. ``why`` says why there are no groups; ``common`` are claims that every group agrees on."""

    readers: int
    counted: int
    groups: tuple[ReaderGroup, ...] = ()
    common: tuple[str, ...] = ()
    why: str = ""


def cast_vote(file: Path, reader: str, claim: str, vote: Vote) -> None:
    """Add a vote to a file; the last that a reader gave on a claim counts.

    Raises:
        StoreUnwritable: it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"reader": reader, "claim": claim, "vote": vote}) + "\n")
    except OSError as fault:
        raise StoreUnwritable(f"{file.name} cannot be written: {fault.strerror}") from None


def read_votes(file: Path) -> dict[str, dict[str, Vote]]:
    """Return all votes of a file; a line that is damaged is passed over."""
    votes: dict[str, dict[str, Vote]] = {}
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else ():
        try:
            entry = json.loads(line)
            reader, claim, vote = str(entry["reader"]), str(entry["claim"]), entry["vote"]
            if vote in _SIGNS:
                votes.setdefault(reader, {})[claim] = vote
        except (ValueError, KeyError, TypeError):
            continue
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
    points = _projected(np, table)
    best: tuple[float, Any] | None = None
    for count in range(2, min(MOST_GROUPS, len(table) // LEAST_GROUP) + 1):
        labels = _clustered(np, points, count)
        if min(np.bincount(labels, minlength=count)) >= LEAST_GROUP:
            score = _silhouette(np, points, labels)
            best = max(best or (score, labels), (score, labels), key=lambda one: one[0])
    if best is None:
        return groups.model_copy(update={"why": f"no two groups of {LEAST_GROUP} readers or more stand apart"})
    return groups.model_copy(update=_described(np, table, best[1], claims))


def _projected(np: Any, table: Any) -> Any:
    seen = ~np.isnan(table)
    means = np.where(seen, table, 0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    centred = np.where(seen, table, means) - means
    _, _, components = np.linalg.svd(centred, full_matrices=False)
    stretch = np.sqrt(table.shape[1] / seen.sum(axis=1))
    return centred @ components[:2].T * stretch[:, None]


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


def _silhouette(np: Any, points: Any, labels: Any) -> float:
    """Return the mean silhouette (Rousseeuw 1987), -1 to 1."""
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    scores: list[float] = []
    for place, label in enumerate(labels):
        own = distances[place, labels == label].sum() / max((labels == label).sum() - 1, 1)
        other = min(distances[place, labels == one].mean() for one in set(labels.tolist()) - {label})
        scores.append(float((other - own) / max(own, other, 1e-12)))
    return sum(scores) / len(scores)


def _described(np: Any, table: Any, labels: Any, claims: Sequence[str]) -> dict[str, Any]:
    agreed, seen = table == 1.0, ~np.isnan(table)

    def shares(mask: Any) -> tuple[Any, Any]:
        n = seen[mask].sum(axis=0)
        return (agreed[mask].sum(axis=0) + 1) / (n + 2), n + 2

    groups: list[ReaderGroup] = []
    held = np.ones(len(claims), dtype=bool)
    for label in sorted(set(labels.tolist()), key=lambda one: -int((labels == one).sum())):
        (inside, n_in), (outside, n_out) = shares(labels == label), shares(labels != label)
        held &= inside > 0.6
        pooled = (inside * n_in + outside * n_out) / (n_in + n_out)
        apart = (inside - outside) / np.sqrt(pooled * (1 - pooled) * (1 / n_in + 1 / n_out))
        order = [int(at) for at in np.argsort(-np.abs(apart), kind="stable") if abs(apart[at]) > _APART]
        standpoints = tuple(
            Standpoint(claim=claims[at], inside=round(float(inside[at]), 3), outside=round(float(outside[at]), 3))
            for at in order[:_MOST_CLAIMS]
        )
        groups.append(ReaderGroup(readers=int((labels == label).sum()), claims=standpoints))
    return {"groups": tuple(groups), "common": tuple(c for c, all_ in zip(claims, held, strict=True) if all_)}
