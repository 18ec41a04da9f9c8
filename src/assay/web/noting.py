"""What people write beside a run: notes, ratings, labels, tags; the routes that take them."""

from __future__ import annotations

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from assay.web.app_state import redirect, request_fields, run_id_of, site_of
from assay.web.forms import whole_number
from assay.web.people import WHO
from assay.web.templating import render
from llm_runtime.store import RunStore
from llm_runtime.store.notes import Note, notes_of, write_note
from llm_runtime.store.upkeep import set_tags, tags_of

ME = "me"
"""Who writes where nobody gives a name."""


def my_name(typed: str = "") -> str:
    """Return under which name whoever asks writes: a person's is their own, whatever was typed."""
    return who.name if (who := WHO.get()) else typed or ME


def beside(store: RunStore, run_id: str) -> Markup:
    """Return what people wrote beside a run, and the forms to write more."""
    notes = notes_of(store, [run_id])[run_id]
    return render("notes.html", run_id=run_id, notes=notes, tags=tags_of(store, run_id), me=my_name())


async def note_run(request: Request) -> Response:
    """Write a note, a rating (1 to 5) or a label beside a run, in place of the same person's earlier one."""
    site, run_id, fields = site_of(request), run_id_of(request), await request_fields(request)
    who = my_name(str(fields.get("who") or "").strip())
    place = str(fields.get("place") or "")[:400]
    known = {(note.who, note.place): note for note in notes_of(site.store, [run_id])[run_id]}
    earlier = known.get((who, place)) or Note(run_id, who)
    # What a form does not ask for stays.
    note, label = (str(fields.get(name, getattr(earlier, name)) or "").strip() for name in ("note", "label"))
    rating = fields.get("rating", earlier.rating)
    stars = whole_number(rating, "rating") if rating not in (None, "") else None
    write_note(site.store, Note(run_id, who, note, stars, label, place=place))
    back = str(fields.get("back") or "")
    page = back if back.startswith(("/batches/", "/runs/")) else f"/runs/{run_id}"
    return redirect(request, page, {"run_id": run_id, "who": who})


async def tag_run(request: Request) -> Response:
    """Put tags on a run (``add``, with spaces between) and take them off (``remove``)."""
    site, run_id, fields = site_of(request), run_id_of(request), await request_fields(request)
    site.store.summary(run_id)
    set_tags(site.store, run_id, *(str(fields.get(name) or "").split() for name in ("add", "remove")))
    return redirect(request, f"/runs/{run_id}", {"run_id": run_id, "tags": tags_of(site.store, run_id)})
