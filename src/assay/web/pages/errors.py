"""The page of something that went wrong."""

from __future__ import annotations

from assay.web.templating import render


def error_page(title: str, message: str) -> str:
    """Return the page."""
    return render("error.html", title=title, message=message)
