"""A page on which readers vote on the claims of a comparison: votes stay on this machine, nobody has an account.

Whoever may see the run finds it under ``/votes``. A link with a key of its own opens it, and nothing else of this
server, to whoever is given the link.
"""

from __future__ import annotations

import hmac
import re
import secrets
from pathlib import Path
from typing import get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.launch.logs import first_event
from assay.protocols.crux.divide import Task, group_name
from assay.protocols.crux.people import open_people
from assay.protocols.crux.report.comparison import comparison_of
from assay.web.app_state import redirect, request_fields, respond, run_id_of, site_of, wants_json
from assay.web.templating import render, rooted
from crux.book import Correction
from crux.comparison import Comparison
from crux.voting import Vote, cast_vote, read_votes, reader_groups
from llm_runtime.errors import ConfigurationError, RunNotFound
from llm_runtime.files import write_atomic
from llm_runtime.settings import data_dir

#: Claims that readers are shown: more is nobody's evening.
_MOST = 40
_READER = re.compile(r"[\w-]{8,64}")


async def show_votes(request: Request) -> Response:
    """Show the claims of a comparison to vote on, how readers voted, and the groups in which they vote alike."""
    run_id = run_id_of(request)
    return await _page(request, run_id, f"votes/{run_id}", _link(request, run_id))


async def show_part(request: Request) -> Response:
    """Show the same to whoever was given the link."""
    return await _page(request, *_opened(request), "")


async def vote(request: Request) -> Response:
    """Vote on a claim: ``reader``, ``claim`` and ``vote``, which is agree, disagree or pass; or disown it."""
    run_id = run_id_of(request)
    reader, claim, meant = await _cast(request, run_id)
    return redirect(request, f"/votes/{run_id}?reader={reader}#{claim}", {"claim": claim, "vote": meant}, 201)


async def take_part(request: Request) -> Response:
    """Do the same by the link."""
    run_id, at = _opened(request)
    reader, claim, _ = await _cast(request, run_id)
    return RedirectResponse(rooted(f"/{at}?reader={reader}#{claim}"), 303)


def _link(request: Request, run_id: str) -> str:
    """Return the link by which people without an account take part; its key is drawn once, and kept."""
    file = _file(run_id, "key")
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, secrets.token_urlsafe(18), private=True)
    return f"{request.url.scheme}://{request.url.netloc}/part/{run_id}/{file.read_text(encoding='utf-8')}"


def _opened(request: Request) -> tuple[str, str]:
    """Return the run that a link opens, and its address.

    Raises:
        RunNotFound: the key is not this run's.
    """
    run_id, key = str(request.path_params["run"]), str(request.path_params["key"])
    file = _file(run_id, "key")
    known = re.fullmatch(r"[\w-]+", run_id) and file.is_file()
    if not known or not hmac.compare_digest(file.read_bytes(), key.encode()):
        raise RunNotFound("this link leads nowhere; ask whoever gave it to you for a new one")
    return run_id, f"part/{run_id}/{key}"


async def _page(request: Request, run_id: str, at: str, link: str) -> Response:
    reader = request.query_params.get("reader", "")
    if not wants_json(request) and not _READER.fullmatch(reader):
        return RedirectResponse(rooted(f"/{at}?reader={secrets.token_urlsafe(9)}"), 303)
    comparison = _compared(request, run_id)
    claims, votes = claims_of(comparison), read_votes(_file(run_id))
    groups = await run_in_threadpool(reader_groups, votes, list(claims))
    counts = {claim: dict.fromkeys(get_args(Vote), 0) for claim in claims}
    for claim, vote in ((key, value) for own in votes.values() for key, value in own.items() if key in counts):
        counts[claim][vote] += 1
    data = {"claims": claims, "votes": counts, "groups": groups.model_dump(mode="json"), "link": link}
    cruxes = comparison.candidates if len(comparison.books) == 1 else ()
    shown = {"at": at, "run_id": run_id, "cruxes": cruxes, "reader": reader, "own": votes.get(reader, {})}
    return respond(request, lambda: data, lambda: render("crux/votes.html", **data, **shown))


async def _cast(request: Request, run_id: str) -> tuple[str, str, str]:
    comparison, fields = _compared(request, run_id), await request_fields(request)
    reader, claim, vote, author = (str(fields.get(name, "")) for name in ("reader", "claim", "vote", "author"))
    meant: Vote | None = next((one for one in get_args(Vote) if one == vote), None)
    if _READER.fullmatch(reader) and vote == "not_said":
        _correct(request, run_id, comparison, Correction(what="not_said", claim=claim, author=author, by=reader))
    elif _READER.fullmatch(reader) and claim in claims_of(comparison) and meant:
        cast_vote(_file(run_id), reader, claim, meant)
    else:
        raise ConfigurationError("a vote needs a reader, a claim of the page, and agree, disagree or pass")
    return reader, claim, vote


def _correct(request: Request, run_id: str, comparison: Comparison, said: Correction) -> None:
    """Keep that somebody did not say a claim: it is struck from every later reading of these texts.

    Raises:
        ConfigurationError: nobody is said to have said it here, or the texts' book is not kept.
    """
    shown = {(view.author, view.claim) for crux in comparison.candidates for view in crux.sides}
    if len(comparison.books) > 1 or (said.author, said.claim) not in shown:
        raise ConfigurationError("only what this page says that somebody of a group claims can be disowned")
    task = Task.model_validate(first_event(event for _, event in site_of(request).store.events(run_id)).task)
    open_people(task.people).correct(group_name(task), said)


def claims_of(comparison: Comparison) -> dict[str, str]:
    """Return the claims of a comparison by id, those first on which authors clash; nobody's name is with them."""
    views = [side for match in (*comparison.opposed, *comparison.shared) for side in match.sides]
    texts: dict[str, str] = {}
    for view in (*views, *(view for own in comparison.alone for view in own)):
        if view.text not in texts.values():
            texts.setdefault(view.claim, view.text)
    return dict(list(texts.items())[:_MOST])


def _compared(request: Request, run_id: str) -> Comparison:
    comparison = comparison_of(site_of(request).store, run_id)
    if comparison is None:
        raise RunNotFound(f"run {run_id} is no comparison; only its claims can be voted on")
    return comparison


def _file(run_id: str, kind: str = "jsonl") -> Path:
    return data_dir() / "votes" / f"{run_id}.{kind}"
