"""The web for seats: a search at an endpoint of the user's own, and the pages that it names; none of this network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote_plus, urlsplit

from pydantic import Field, SecretStr

from assay.seat_tools.offered import STANDS, Call, ToolFault, word
from assay.seat_tools.reading import numbered
from assay.seat_tools.servers import ask_server, server_in, table_of
from llm_runtime.documents.markup import text_of_html
from llm_runtime.documents.reading import ENDINGS, read_document
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ConfigurationError
from llm_runtime.http import Http
from llm_runtime.http.public import read_page
from llm_runtime.http.shape import mapping, one_line, sequence, text
from llm_runtime.keys import COMMAND, printed_key
from llm_runtime.models import Model, fits
from llm_runtime.normal import normal
from llm_runtime.toml import own_table

_HITS, _BYTES = 8, 5 * 2**20


class WebSearch(Model):
    """A search that answers in JSON, a row of ``engines.toml``; a table of ``tools.toml`` is laid over it."""

    search: str
    """Its name."""
    url: str = Field(pattern="https?://")
    path: str
    """Below ``url``; the words are put behind it, or into ``body``."""
    key: str = Field("", pattern=r"^(env:\w+|command:.*\S.*|)$")
    header: str = ""
    """Carries the key; without one it is a bearer token."""
    body: Mapping[str, Any] = {}
    """What is sent beside ``query``; without any the words are in the address."""
    results: str = "results"
    """Where the list of results is, with dots; each has a ``title`` and a ``url``."""
    excerpt: str
    """The field with words of the page."""

    async def find(self, words: str) -> str:
        """Return results, each with its address, three lines apiece."""
        endpoint, http = await self._endpoint(), Http()
        try:
            if self.body:
                came, _ = await http.post_json(endpoint, self.path, {**self.body, "query": words}, model="")
            else:
                came = await http.get_json(endpoint, self.path + quote_plus(words))
        finally:
            await http.aclose()
        for step in self.results.split("."):
            came = mapping(came).get(step)
        told = [self._told(number, mapping(hit)) for number, hit in enumerate(sequence(came)[:_HITS], 1)]
        return "\n".join(told) or "(nothing was found)"

    def _told(self, number: int, hit: Mapping[str, Any]) -> str:
        # A line each: whatever a page writes about itself, it cannot write another result.
        title, address, excerpt = (text(hit.get(name)) for name in ("title", "url", self.excerpt))
        bare = partial(one_line, limit=600)
        return f"{number}. {bare(text_of_html(title))}\n   {bare(address)}\n   {bare(text_of_html(excerpt))}"

    async def _endpoint(self) -> Endpoint:
        key: SecretStr | None = None
        if self.key.startswith(COMMAND):
            key = await printed_key(self.key.removeprefix(COMMAND))
        elif self.key:
            variable = self.key.removeprefix("env:")
            if not os.environ.get(variable):
                raise ToolFault(f"the search has no key: set {variable}")
            key = SecretStr(os.environ[variable])
        headers = ((self.header, key.get_secret_value()),) if self.header and key else ()
        return Endpoint(self.search, self.url, None if headers else key, headers=headers)


def web_tool(name: str, _: Sequence[str]) -> Call:
    """Return what searches, reads a page that was found, and looks a quotation up there.

    Raises:
        ConfigurationError: ``tools.toml`` has no such search, or not as it should be.
    """
    find, pages = _search_of(name), dict[str, str]()

    async def call(arguments: Mapping[str, Any]) -> str:
        if not arguments.get("page"):
            return await find(word(arguments, "words"))
        address = word(arguments, "page")
        if address not in pages:
            pages[address] = await _page(address)
        if arguments.get("quote"):
            wanted = normal(word(arguments, "quote")).text
            return STANDS if normal(pages[address]).places(wanted, 1) else "These words do not stand on the page."
        return numbered(pages[address].splitlines(), arguments.get("first", 1))

    return call


def _search_of(name: str) -> Callable[[str], Awaitable[str]]:
    where, table = table_of("search", name, "search or command")
    if "command" in table:
        server = server_in(where, table)
        return lambda words: ask_server(server, server.allow[0], {"query": words})
    engines: Mapping[str, Mapping[str, Any]] = own_table("assay.seat_tools", "engines.toml")
    if (row := engines.get(str(table.get("search")))) is None:
        raise ConfigurationError(f"{where}search must be one of {', '.join(engines)}")
    with fits(where):
        return WebSearch.model_validate({**row, **table}).find


async def _page(address: str) -> str:
    page = await read_page(address, max_bytes=_BYTES)
    assert page is not None, "that is the answer to an etag alone"
    ending = ENDINGS.get(page.kind) or PurePosixPath(urlsplit(page.url).path).suffix.lower()
    return (await asyncio.to_thread(read_document, address[:200], page.body, ending)).text
