"""Nobody drives the application but whom it knows, and nothing that a page shows can run."""

from __future__ import annotations

import io
import re
from functools import partial
from typing import Any

import aiohttp
import pytest
from starlette.datastructures import Headers
from starlette.routing import Route

from assay.web.guard import Gate
from assay.web.routes import routes

from .conftest import TOKEN

HOSTILE: dict[str, dict[str, str]] = {
    "another host": {"Host": "evil.test"},
    "a name that was made to point here": {"Host": "rebound.evil.test:8737"},
    "an address in another writing": {"Host": "2130706433"},
    "a host with a user": {"Host": "localhost@evil.test"},
    "another page's origin": {"Origin": "https://evil.test"},
    "another port's origin": {"Origin": "http://127.0.0.1:1"},
    "no origin at all, as a sandboxed frame says it": {"Origin": "null"},
    "another site, as the browser says it": {"Sec-Fetch-Site": "cross-site"},
    "another port, as the browser says it": {"Sec-Fetch-Site": "same-site"},
}


def every_route() -> list[tuple[str, str]]:
    found = [
        (method, re.sub(r"\{\w+\}", "x1", route.path))
        for route in routes()
        if isinstance(route, Route)
        for method in route.methods or ()
    ]
    assert len(found) > 40
    return found


async def status(web: Any, method: str, path: str, headers: dict[str, str], cookie: bool) -> int:
    """Ask as a browser that is signed in, or as nobody."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        return await _status(client, web, method, path, headers, await signed_in(web) if cookie else "")


async def _status(
    client: aiohttp.ClientSession, web: Any, method: str, path: str, headers: dict[str, str], cookie: str = ""
) -> int:
    address = (web.pages if cookie else web.url) + path
    own = {"Cookie": cookie} if cookie else {}
    async with client.request(method, address, headers={**own, **headers}, allow_redirects=False) as answer:
        return answer.status


async def signed_in(web: Any) -> str:
    """The cookie of a new session."""
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
        client.get(f"{web.url}/open?key={TOKEN}", allow_redirects=False) as answer,
    ):
        return answer.headers["set-cookie"].partition(";")[0]


async def test_every_route_refuses_other_names_other_pages_and_whoever_has_no_token(web: Any) -> None:
    cookie = await signed_in(web)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        for method, path in every_route():
            asked = partial(_status, client, web, method, path)
            if not path.startswith("/static/"):  # the style sheet is the same for everybody, and shows nothing
                assert await asked({}) == 403, (method, path, "no token")
                wrong = {"Authorization": "Bearer wrong", "Cookie": "assay=wrong"}
                assert await asked(wrong) == 403, (method, path, "wrong token")
            for name, headers in HOSTILE.items():
                assert await asked(headers, cookie) == 403, (method, path, name)
        assert await _status(client, web, "GET", "/runs", {}, cookie) == 200, "it was refused for what it said"


async def test_whoever_drives_the_application_with_a_cookie_must_say_from_where(web: Any, council: Any) -> None:
    run_id = await council()
    assert await status(web, "POST", f"/runs/{run_id}/stop", {}, cookie=True) == 403
    assert await status(web, "POST", f"/runs/{run_id}/stop", {"Origin": web.url}, cookie=True) == 400
    assert await status(web, "GET", f"/runs/{run_id}", {}, cookie=True) == 200


async def test_the_printed_address_opens_one_browser_once(web: Any) -> None:
    address = f"{web.url}/open?key={web.site.gate.key}"
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.head(address) as answer:
            assert answer.status == 403
        async with browser.get(address, allow_redirects=False) as answer:
            assert answer.status == 303
            cookie = answer.headers["set-cookie"].lower()
            assert "httponly" in cookie and "samesite=strict" in cookie
            assert f"path={web.site.gate.root}".lower() in cookie
        async with browser.get(f"{web.pages}/runs") as answer:
            assert answer.status == 200
    async with aiohttp.ClientSession() as another, another.get(address) as answer:
        assert answer.status == 403


async def test_every_answer_carries_the_policy(web: Any, council: Any) -> None:
    run_id = await council()
    for path in ("/runs", f"/runs/{run_id}", f"/runs/{run_id}/stream", "/runs/none", "/static/app.js", "/nowhere"):
        async with web.client.get(web.url + path) as answer:
            policy = answer.headers["content-security-policy"]
            assert policy.startswith(
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
            )
            assert "frame-ancestors 'none'" in policy and "unsafe" not in policy
            assert answer.headers["referrer-policy"] == "same-origin"
            assert answer.headers["x-content-type-options"] == "nosniff"


async def test_no_page_has_script_or_style_within(web: Any, council: Any) -> None:
    run_id = await council()
    paths = [
        *("/runs", "/new", "/compare", f"/compare?run={run_id}", f"/compare?run={run_id}&run={run_id}", "/runs/none"),
        *(
            f"/runs/{run_id}{view}"
            for view in ("", "/timeline", "/events", "/fork", "/resume", "/calls/2", "/events/2")
        ),
    ]
    for path in paths:
        _, page = await web.get(path)
        assert page.startswith("<!doctype html>"), path
        assert not re.search(
            r"<style|\sstyle=|\son\w+=|<script(?! src=\"/static/app.js\?v=\w+\" defer=\"\"></script>)", page
        ), path
        assert '<link rel="icon" href="data:,">' in page


@pytest.mark.parametrize(
    ("host", "names", "asked", "served"),
    [
        ("127.0.0.1", (), "localhost:8737", True),
        ("127.0.0.1", (), "LOCALHOST", True),
        ("127.0.0.1", (), "[::1]:8737", True),
        ("127.0.0.1", (), "192.168.1.7:8737", False),
        ("127.0.0.1", (), "localhost.evil.test", False),
        ("127.0.0.1", (), "localhost.", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", (), "localhost:port", False),
        ("0.0.0.0", (), "192.168.1.7:8737", True),
        ("0.0.0.0", (), "studio.local:8737", False),
        ("0.0.0.0", ("studio.local",), "studio.local:8737", True),
    ],
)
def test_the_names_that_are_served(host: str, names: tuple[str, ...], asked: str, served: bool) -> None:
    gate = Gate(host, "token-0123456789abc", names)
    headers = Headers({"host": asked, "authorization": "Bearer token-0123456789abc"})
    assert (gate.objection("GET", "/runs", headers) is None) is served


async def test_a_cookie_opens_nothing_without_the_path_of_this_launch(web: Any) -> None:
    stolen = {"Cookie": await signed_in(web)}
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), headers=stolen) as thief:
        for root in ("", "/s", "/s/guessed", web.site.gate.root[:-1], f"/{web.site.gate.root}"):
            async with thief.get(f"{web.url}{root}/runs.json") as answer:
                assert answer.status == 403, root
        async with thief.get(f"{web.pages}/runs.json") as answer:
            assert answer.status == 200
    assert Gate(token="x" * 16).root != Gate(token="x" * 16).root, "the path is another one at each launch"


async def test_a_browser_signs_out_and_another_stays(web: Any) -> None:
    mine, other = await signed_in(web), await signed_in(web)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        leaving = {"Cookie": mine, "Origin": web.url}
        async with client.post(f"{web.pages}/leave", headers=leaving) as answer:
            assert answer.status == 200 and "signed out" in await answer.text()
        for cookie, code in ((mine, 403), (other, 200)):
            async with client.get(f"{web.pages}/runs", headers={"Cookie": cookie}) as answer:
                assert answer.status == code


async def test_whoever_is_not_known_gets_a_page_that_lets_them_in(web: Any) -> None:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.get(web.url, headers={"Accept": "text/html"}) as answer:
            page = await answer.text()
            assert answer.status == 403 and 'action="/open"' in page and 'href="/static/app.css?v=' in page
        async with browser.post(f"{web.url}/open", data={"key": "wrong"}, headers={"Origin": web.url}) as answer:
            assert answer.status == 403 and "does not open" in await answer.text()
        async with browser.post(f"{web.url}/open", data={"key": TOKEN}, headers={"Origin": web.url}) as answer:
            assert answer.status == 200 and answer.url.path == f"{web.site.gate.root}/"
            assert "Sign out" in await answer.text()


async def test_a_request_that_is_too_large_is_refused(web: Any) -> None:
    body = io.BytesIO(b"query=" + b"x" * (5 << 20))
    async with web.client.post(web.url + "/runs", data=body, headers={"accept": "application/json"}) as answer:
        assert answer.status == 400
        assert "4 MiB" in (await answer.json())["message"]
