"""Documents of other programs and pages of the web as text, or one line that says why not."""

from __future__ import annotations

import asyncio
import zipfile
from collections.abc import AsyncIterator
from io import BytesIO

import pytest
from aiohttp import web

from llm_runtime.documents import DocumentError, read_document
from llm_runtime.documents.pages import is_public, read_page


def sheet(cells: str) -> bytes:
    """Write the smallest spreadsheet that programs open."""
    kinds = "http://schemas.openxmlformats.org/"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{kinds}package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/w.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
        'sheet.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{kinds}package/2006/relationships"><Relationship Id="r1" '
        f'Type="{kinds}officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{kinds}spreadsheetml/2006/main" xmlns:r="{kinds}officeDocument/2006/'
        'relationships"><sheets><sheet name="Costs" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{kinds}package/2006/relationships"><Relationship '
        f'Id="r1" Type="{kinds}officeDocument/2006/relationships/worksheet" Target="s.xml"/></Relationships>',
        "xl/s.xml": f'<worksheet xmlns="{kinds}spreadsheetml/2006/main"><sheetData>{cells}</sheetData></worksheet>',
    }
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def test_a_spreadsheet_is_read_as_tables() -> None:
    pytest.importorskip("python_calamine", reason="needs the extra 'import'")
    cells = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>team</t></is></c>'
        '<c r="B1" t="inlineStr"><is><t>hours</t></is></c></row>'
        '<row r="2"><c r="A2" t="inlineStr"><is><t>ops</t></is></c>'
        '<c r="B2"><v>12</v></c></row>'
    )
    assert read_document("costs.xlsx", sheet(cells)).text == "Sheet Costs\nteam | hours\nops | 12"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.bin", b"\0\1", "is binary"),
        ("a.txt", b"\xff\xfa", "not UTF-8 at byte 0"),
        ("a.txt", b"  \n", "no text"),
        ("a.pdf", b"%PDF-", "damaged"),
        ("a.docx", b"PK", "not a readable .docx"),
        ("a.xlsx", b"PK", "not a readable .xlsx"),
        ("a.ods", b"none", "no spreadsheet"),
        ("a.html", b'<p>Sign in</p><input TYPE="password">', "login form"),
    ],
)
def test_what_cannot_be_read_is_one_line(name: str, data: bytes, says: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read_document(name, data)
    assert says in str(refused.value) and "\n" not in str(refused.value) and name in str(refused.value)


def test_utf_16_is_told_by_its_mark() -> None:
    assert read_document("a.txt", "Größe\r\n2".encode("utf-16")).text == "Größe\n2"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        *((address, False) for address in ("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "0.0.0.0")),
        *((address, False) for address in ("::1", "::ffff:127.0.0.1", "fe80::1%eth0", "fd00::1", "224.0.0.1", "x")),
    ],
)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.fixture
async def site() -> AsyncIterator[str]:
    async def page(request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/page":
                return web.Response(
                    text="<h1>Title</h1><p>First.</p><script>no()</script>", content_type="text/html"
                )
            case "/data":
                return web.Response(text="a,b\n1,2\n", content_type="text/csv")
            case "/moved":
                raise web.HTTPFound("/page")
            case "/away":
                raise web.HTTPFound("http://127.0.0.2:9/page")
            case "/round":
                raise web.HTTPFound("/round")
            case "/private":
                raise web.HTTPUnauthorized
            case "/large":
                return web.Response(body=b"x" * 10_000)
            case "/slow":
                await asyncio.sleep(60)
            case _:
                pass
        raise web.HTTPNotFound

    application = web.Application()
    application.router.add_get("/{rest:.*}", page)
    runner = web.AppRunner(application)
    await runner.setup()
    server = web.TCPSite(runner, "127.0.0.1", 0)
    await server.start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


def everywhere(address: str) -> bool:
    return True


async def test_a_page_is_read_as_its_reader_would(site: str) -> None:
    options = {"admits": everywhere, "schemes": ("http",)}
    assert (await read_page(f"{site}/page", **options)).text == "Title\n\nFirst."
    assert (await read_page(f"{site}/moved", **options)).text == "Title\n\nFirst."
    assert (await read_page(f"{site}/data", **options)).text == "a,b\n1,2\n"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/away", "another host"),
        ("/round", "without an end"),
        ("/private", "wants a login (HTTP 401)"),
        ("/large", "larger than"),
        ("/slow", "no whole page within"),
        ("/nowhere", "HTTP 404"),
    ],
)
async def test_a_page_that_is_not_given_is_one_line(site: str, path: str, says: str) -> None:
    with pytest.raises(DocumentError) as refused:
        await read_page(f"{site}{path}", admits=everywhere, schemes=("http",), seconds=1.0, most=5_000)
    assert says in str(refused.value) and "\n" not in str(refused.value)


async def test_the_address_that_is_connected_to_is_the_one_that_was_checked(site: str) -> None:
    port = site.rpartition(":")[2]
    asked: list[str] = []

    def admits(address: str) -> bool:
        asked.append(address)
        return is_public(address)

    for host in ("localhost", "127.0.0.1", "2130706433", "127.1"):
        with pytest.raises(DocumentError, match=r"private network|not a canonical"):
            await read_page(f"http://{host}:{port}/page", admits=admits, schemes=("http",))
    assert set(asked) <= {"127.0.0.1", "::1"} and asked
