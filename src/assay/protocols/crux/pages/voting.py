"""A page on which readers vote on the claims of a comparison: votes stay on this machine, nobody has an account."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.protocols.crux.report.comparison import comparison_of
from assay.web.app_state import redirect, request_fields, respond, run_id_of, site_of, wants_json
from assay.web.root import rooted
from assay.web.templating import render
from crux.comparison import Comparison
from crux.voting import Vote, cast_vote, read_votes, reader_groups
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.settings import data_dir

#: Claims that readers are shown: more is nobody's evening.
_MOST = 40
_READER = re.compile(r"[\w-]{8,64}")


async def show_votes(request: Request) -> Response:
    """Show the claims of a comparison to vote on, how readers voted, and the groups in which they vote alike."""
    run_id, comparison = _compared(request)
    reader = request.query_params.get("reader", "")
    if not wants_json(request) and not _READER.fullmatch(reader):
        return RedirectResponse(rooted(f"/votes/{run_id}?reader={secrets.token_urlsafe(9)}"), 303)
    claims, votes = claims_of(comparison), read_votes(_file(run_id))
    groups = (await run_in_threadpool(reader_groups, votes, list(claims))).model_dump(mode="json")
    counts = {claim: dict.fromkeys(get_args(Vote), 0) for claim in claims}
    for claim, vote in ((key, value) for own in votes.values() for key, value in own.items() if key in counts):
        counts[claim][vote] += 1
    return respond(
        request,
        lambda: {"claims": claims, "votes": counts, "groups": groups},
        lambda: render(
            "crux/votes.html",
            run_id=run_id,
            title=" and ".join(read.name for read in comparison.authors),
            reader=reader,
            claims=claims,
            counts=counts,
            own=votes.get(reader, {}),
            groups=groups,
        ),
    )


async def vote(request: Request) -> Response:
    """Vote on a claim: ``reader``, ``claim`` and ``vote``, which is agree, disagree or pass."""
    run_id, comparison = _compared(request)
    fields = await request_fields(request)
    reader, claim, vote = (str(fields.get(name, "")) for name in ("reader", "claim", "vote"))
    meant: Vote | None = next((one for one in get_args(Vote) if one == vote), None)
    if not _READER.fullmatch(reader) or claim not in claims_of(comparison) or meant is None:
        raise ConfigurationError("a vote needs a reader, a claim of the page, and agree, disagree or pass")
    cast_vote(_file(run_id), reader, claim, meant)
    return redirect(request, f"/votes/{run_id}?reader={reader}#{claim}", {"claim": claim, "vote": meant}, 201)


def claims_of(comparison: Comparison) -> dict[str, str]:
    """Return the claims of a comparison by id, those first on which the two clash; nobody's name is with them."""
    views = [side for match in (*comparison.opposed, *comparison.shared) for side in match.sides]
    texts: dict[str, str] = {}
    for view in (*views, *(view for own in comparison.alone for view in own)):
        if view.text not in texts.values():
            texts.setdefault(view.claim, view.text)
    return dict(list(texts.items())[:_MOST])


def _compared(request: Request) -> tuple[str, Comparison]:
    run_id = run_id_of(request)
    comparison = comparison_of(site_of(request).store, run_id)
    if comparison is None:
        raise RunNotFound(f"run {run_id} is no comparison; only its claims can be voted on")
    return run_id, comparison


def _file(run_id: str) -> Path:
    return data_dir() / "votes" / f"{run_id}.jsonl"
