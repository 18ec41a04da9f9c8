"""The almanac's own page."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from assay.web.endpoints import Endpoint
from assay.web.templating import render


async def show_year(request: Request) -> Response:
    """Show the months in which something is sown."""
    return HTMLResponse(render("almanac/year.html", months=["March", "<May>"]))


PAGES = (
    Endpoint("/almanac", show_year, need="known", title="Almanac"),
    Endpoint("/almanac/{run_id}", show_year, need="see", title="Its year", kinds=("almanac.advice",)),
)
