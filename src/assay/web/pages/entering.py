"""The page for a browser that is not known: why, and how to come in."""

from __future__ import annotations

from assay.web.root import ROOT
from assay.web.templating import render


def entrance(why: str = "", *, people: bool = False) -> str:
    """Return the page; ``why`` says what happened, where something did. ``people`` adds a form for them."""
    ROOT.set("")  # nothing below this launch's path is served to whoever sees this page
    return render("entrance.html", why=why, people=people)
