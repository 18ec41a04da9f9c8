"""Pictures: what of a file goes to a model, what each wire is sent, who sees, and how many tokens it takes."""

from __future__ import annotations

import asyncio
import hashlib
import json
import struct
import tracemalloc
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.lazily import Lazily, needs
from tests.picture_files import FILES

from llm_runtime.dialects import DIALECTS
from llm_runtime.documents import DocumentError
from llm_runtime.documents.pictures import MOST_BYTES, picture_at, read_picture, scanned_pages
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Picture, Request, request_digest
from llm_runtime.providers.mailbox import mailbox
from llm_runtime.providers.ollama import ollama
from llm_runtime.providers.payloads import chat_payload, messages_payload, responses_payload
from llm_runtime.replay import Recording
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.testing import LoopbackServer
from llm_runtime.vision import family_of, picture_tokens

needs("PIL", "needs the extra 'import'")
PIL = Lazily("PIL.Image")
KINDS = [name for name in FILES if not name.startswith("bad-")]
PNG = b"\x89PNG\r\n\x1a\n"
LABEL = CallLabel("test", "ask")


def chunk(kind: bytes, body: bytes = b"") -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, *more: bytes, pixels: bytes = b"\0\0") -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return PNG + b"".join([chunk(b"IHDR", head), *more, chunk(b"IDAT", zlib.compress(pixels)), chunk(b"IEND")])


def gif(frames: int, data: bytes = b"\x02\x02\x44\x01\x00", size: tuple[int, int] = (1, 1)) -> bytes:
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, *size, 0) + data
    return b"GIF89a" + struct.pack("<HHB", *size, 0x80) + bytes(2 + 6) + frame * frames + b"\x3b"


def shown(request_pictures: tuple[Picture, ...], model: str = "gpt-4o") -> Request:
    return Request(model, (Message("system", "Look."), Message("user", "What is it?", request_pictures)), LABEL)


PICTURE = read_picture("a.png", FILES["png-RGB"])


@pytest.mark.parametrize("name", KINDS)
def test_every_usual_kind_is_sent_without_what_stands_beside_it(name: str) -> None:
    picture = read_picture(name, FILES[name])
    kept = b64decode(picture.base64)
    size = (24, 16) if name in ("jpeg-progressive", "jpeg-restart") else (9, 6)
    size = size[::-1] if name in ("jpeg-gps", "png-text", "webp-alpha") else size  # a camera was held upright
    assert (picture.kind, picture.width, picture.height) == (f"image/{name.partition('-')[0]}", *size)
    assert not any(secret in kept for secret in (b"48.1372", b"SecretCam", b"taken at home", b"<x>"))
    # What stands behind its end goes nowhere; as it stands in a log it is taken as it is.
    both = read_picture(name, FILES[name] + b"PK\x03\x04 a whole archive")
    assert b"archive" not in b64decode(both.base64) and (both.width, both.height) == size
    assert picture_at(name, picture.address, known=True) == picture
    assert picture.digest == hashlib.sha256(kept).hexdigest()


@pytest.mark.parametrize("name", KINDS)
def test_read_twice_a_picture_is_the_same(name: str) -> None:
    picture = read_picture(name, FILES[name])
    again = read_picture(name, b64decode(picture.base64))
    assert (again.digest == picture.digest) or name == "webp-alpha"


def test_a_photograph_is_turned_upright_and_has_no_place() -> None:
    image = PIL.open(BytesIO(b64decode(read_picture("a.jpg", FILES["jpeg-gps"]).base64)))
    assert image.size == (6, 9) and not dict(image.getexif())


def test_of_the_two_pictures_that_a_telephone_writes_the_photograph_is_sent() -> None:
    out = BytesIO()
    PIL.new("RGB", (64, 48), "red").save(out, "MPO", save_all=True, append_images=[PIL.new("RGB", (32, 24))])
    picture = read_picture("phone.jpg", out.getvalue())
    assert (picture.kind, picture.width, picture.height) == ("image/jpeg", 64, 48)
    assert len(picture.base64) < len(out.getvalue())


HOSTILE = {
    "wide": (png(60_000, 60_000), "too many pixels"),
    "nothing": (png(0, 5), "no PNG"),
    "bomb": (png(8_001, 100, pixels=b"\0" * 2**24), "too many pixels"),
    "many": (png(7_000, 7_000), "too many pixels"),
    "inflating": (png(4_000, 4_000, pixels=b"\0" * 2**22), "damaged"),
    "words without end": (png(9, 6, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2**24)))), ""),
    "truncated": (FILES["png-RGB"][:-30], "damaged"),
    "a header alone": (PNG, ""),
    "damaged": (FILES["png-RGB"].replace(b"IDAT", b"IDAX"), ""),
    "no pixels": (PNG + chunk(b"IEND"), ""),
    "long block": (PNG + b"\xff\xff\xff\xffIHDR" + bytes(40), ""),
    "animated png": (FILES["bad-apng"], "animated"),
    "animated webp": (FILES["bad-webp-animated"], "animated"),
    "ten thousand frames": (gif(10_000), "animated"),
    "gif of nothing": (gif(0), ""),
    "gif beyond its canvas": (gif(1, size=(9_000, 1)), "too many pixels"),
    "jpeg without end": (FILES["jpeg-RGB"][:-2], ""),
    "jpeg without a picture": (b"\xff\xd8\xff\xd9", ""),
    "jpeg of noughts": (b"\xff\xd8\xff" + bytes(500), ""),
    "webp cut": (FILES["webp-lossy"][:60], ""),
    "sound": (b"RIFF\x24\0\0\0WAVEfmt " + bytes(32), "no PNG"),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "no PNG"),
    "page": (b"<html>PNG</html>", "no PNG"),
    "tiff": (b"II*\0" + bytes(60), "no PNG"),
    "heic": (b"\0\0\0\x18ftypheic" + bytes(60), "no PNG"),
    "large": (PNG + bytes(MOST_BYTES), "bytes"),
    "empty": (b"", "no PNG"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_picture_is_one_line_and_takes_bounded_memory(name: str) -> None:
    data, says = HOSTILE[name]
    tracemalloc.start()
    try:
        with pytest.raises(DocumentError) as fault:
            read_picture("shot.png", data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert says in str(fault.value) and str(fault.value).startswith("shot.png") and "\n" not in str(fault.value)
    assert peak < 2 * len(data) + 3_000_000


@pytest.mark.parametrize("name", ["png-RGB", "jpeg-gps", "webp-alpha", "gif"])
def test_a_picture_cut_or_changed_anywhere_is_a_line_or_a_picture(name: str) -> None:
    data = FILES[name]
    for at in range(0, len(data), 11):
        for broken in (data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]):
            try:
                read_picture(name, broken)
            except DocumentError as fault:
                assert "\n" not in str(fault)


@pytest.mark.parametrize(
    "address",
    [
        "data:image/svg+xml;base64," + b64encode(b"<svg/>").decode(),
        "data:image/png,plain",
        "data:image/png;base64,!!!",
        "data:text/html;base64,PGI+",
        "https://example.org/a.png",
        "file:///etc/passwd",
    ],
)
def test_no_other_address_is_passed_on(address: str) -> None:
    with pytest.raises(DocumentError):
        picture_at("image_url", address)


def test_every_wire_has_its_form() -> None:
    endpoint = Endpoint("gemini", "https://models.example.org/v1", dialect=DIALECTS["gemini"])
    request = shown((PICTURE,))
    data = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE.base64}"}}
    assert chat_payload(request, endpoint)["messages"] == [
        {"role": "system", "content": "Look."},
        {"role": "user", "content": [data, {"type": "text", "text": "What is it?"}]},
    ]
    assert responses_payload(request, endpoint)["input"][1]["content"] == [
        {"type": "input_image", "image_url": PICTURE.address},
        {"type": "input_text", "text": "What is it?"},
    ]
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE.base64}
    twice = replace(request, messages=(*request.messages, Message("system", "Well?"), Message("user", "And now?")))
    assert messages_payload(twice, endpoint)["messages"] == [
        {
            "role": "user",
            "content": [{"type": "image", "source": source}, {"type": "text", "text": "What is it?\n\nAnd now?"}],
        }
    ]


async def test_ollama_is_sent_the_picture_and_a_window_for_it() -> None:
    async with LoopbackServer("A dot.") as server, aclosing(Http()) as http:
        request = shown((replace(PICTURE, width=4_000, height=4_000),), "llava")
        reply = await ollama(server.endpoint("ollama"), http)(request)
    assert reply.text == "A dot."
    (received,) = server.requests
    assert received.payload["messages"][1]["images"] == [PICTURE.base64]
    assert received.payload["options"]["num_ctx"] > 8_192


def questions(folder: Path) -> list[Path]:
    return list(folder.glob("*.request.md"))


async def test_a_mailbox_has_the_picture_as_a_file_beside_the_question(tmp_path: Path) -> None:
    asking = asyncio.create_task(mailbox(tmp_path, poll=0.01)(shown((PICTURE,))))
    await asyncio.sleep(0)
    asked = questions(tmp_path)
    assert (tmp_path / f"{PICTURE.digest}.png").read_bytes() == b64decode(PICTURE.base64)
    assert f"![picture]({PICTURE.digest}.png)" in asked[0].read_text()
    stem = asked[0].name.removesuffix(".request.md")
    assert json.loads((tmp_path / f"{stem}.request.json").read_text())["request"]["messages"][1]["pictures"] == [
        PICTURE.digest
    ]
    (tmp_path / f"{stem}.reply.md").write_text("A dot.")
    assert (await asking).text == "A dot."


def test_a_request_names_the_digest_and_one_without_pictures_is_what_it_was() -> None:
    request = shown((PICTURE,))
    data = request.to_dict()
    assert data["messages"][1] == {"content": "What is it?", "pictures": [PICTURE.digest], "role": "user"}
    assert PICTURE.base64 not in json.dumps(data) and list(data["messages"][1]) == sorted(data["messages"][1])
    assert Request.from_dict(json.loads(json.dumps(data)), [PICTURE]) == request
    assert shown(()).to_dict()["messages"][1] == {"content": "What is it?", "role": "user"}
    assert request_digest(data) != request_digest(shown(()).to_dict())


def test_a_replay_with_another_picture_says_so() -> None:
    from llm_runtime.events import CallFinished, CallStarted
    from llm_runtime.messages import Reply, Usage

    started = CallStarted.of(shown((PICTURE,)), {}, lambda digest, occurrence: False)
    reply = Reply("A dot.", "m", "p", Usage(1, 1))
    recording = Recording.from_events([started, CallFinished.of(started, reply)])
    other = shown((read_picture("b.png", FILES["png-L"]),))
    assert recording.reply(request_digest(shown((PICTURE,)).to_dict()), 1) == reply
    assert "other pictures" in str(recording.mismatch(other, request_digest(other.to_dict()), 1))
    # Asked in the recording's own words, the picture is still the one at hand.
    assert recording.asked_as(shown((PICTURE,)), 1).pictures[0].base64 == PICTURE.base64


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        # Each from its vendor's table or formula.
        ("anthropic/claude-haiku-4.5", 256, 256, 110),
        ("claude-haiku-4-5", 4_000, 3_000, 1_578),
        ("claude-opus-4-8", 2_000, 1_500, 72 * 54),
        ("openai/gpt-4o", 1_024, 1_024, 85 + 4 * 170),
        ("openai/gpt-4o", 2_048, 4_096, 85 + 6 * 170),
        ("gpt-6-astra", 1_024, 1_024, 1_229),
        ("models/gemini-2.5-pro", 1_000, 700, 2 * 258),
        ("google/gemini-3.1-pro", 4_000, 3_000, 1_120),
    ],
)
def test_a_picture_takes_what_its_vendor_says(model: str, width: int, height: int, tokens: int) -> None:
    assert picture_tokens(model, [replace(PICTURE, width=width, height=height)]) == tokens


@pytest.mark.parametrize(
    ("sees", "models"),
    [
        (True, "anthropic/claude-sonnet-4.5 openai/gpt-4o-mini gpt-5 gpt-6 o3 o4-mini gemini-3-pro gemma3:12b"),
        (True, "llava:13b llama3.2-vision qwen2.5vl:7b qwen/qwen3-vl-8b mistralai/pixtral-12b grok-4 minicpm-v"),
        (False, "gpt-3.5-turbo openai/gpt-4 gpt-oss:20b o3-mini deepseek-chat qwen3:8b llama3.1:8b mixtral:8x7b"),
        (None, "somebody/else acme-1 mistral-nemo"),
    ],
)
def test_families_tell_who_sees(sees: bool | None, models: str) -> None:
    assert {model: family_of(model).sees for model in models.split()} == dict.fromkeys(models.split(), sees)


def settings(server: LoopbackServer, model: str, **entry: Any) -> Settings:
    endpoints = {"mine": {"base_url": f"{server.url}/v1", **entry}}
    return Settings(config=ConfigFile.model_validate({"model": f"mine:{model}", "endpoints": endpoints}))


@pytest.mark.parametrize(
    ("listed", "vision", "why"),
    [
        ({"id": "somebody"}, None, "vision = true under [endpoints.mine]"),
        ({"id": "somebody"}, True, ""),
        ({"id": "gpt-oss"}, None, "cannot see"),
        ({"id": "gpt-4o"}, False, "cannot see"),
        ({"id": "gpt-4o"}, None, ""),
        ({"id": "gpt-4o", "architecture": {"input_modalities": ["text"]}}, None, "cannot see"),
        ({"id": "somebody", "architecture": {"input_modalities": ["text", "image"]}}, None, ""),
        ({"id": "somebody", "capabilities": {"vision": True}}, None, ""),
        ({"id": "somebody", "capabilities": {"image_input": {"supported": False}}}, None, "cannot see"),
    ],
)
async def test_who_cannot_see_is_told_before_anything_is_sent(listed: Any, vision: bool | None, why: str) -> None:
    async with LoopbackServer("A dot.", models=[listed]) as server:
        mine = settings(server, listed["id"], vision=vision)
        async with Gateway(mine, needs=frozenset({"pictures"})) as gateway:
            if why:
                with pytest.raises(ConfigurationError) as fault:
                    await gateway.ready()
                assert why in str(fault.value).replace("\n", "!")
            else:
                await gateway.ready()
        async with Gateway(mine) as gateway:
            if why:
                with pytest.raises(CallError) as refused:
                    await gateway.generate(shown((PICTURE,), "any"))
                assert why in str(refused.value) and not server.requests
            assert (await gateway.generate(shown((), "any"))).text == "A dot."


async def test_who_has_no_place_for_a_picture_refuses_it(tmp_path: Path) -> None:
    needs = frozenset({"pictures"})
    program = {"argv": ["cat"], "tools": "as it is"}
    config = ConfigFile.model_validate({"agents": {"mine": program}})
    for model, why in (("agent:mine", "does not hold pictures"), ("terminal:", "shows no pictures")):
        async with Gateway(Settings(config=config), named=[model], needs=needs) as gateway:
            with pytest.raises(ConfigurationError, match=why):
                await gateway.ready(model)
    async with Gateway(Settings(config=config), named=[f"mailbox:{tmp_path}"], needs=needs) as gateway:
        await gateway.ready(f"mailbox:{tmp_path}")


@pytest.fixture
def scan() -> Iterator[bytes]:
    """A PDF whose one page is a picture."""
    pdfium = pytest.importorskip("pypdfium2", reason="needs the extra 'import'")
    document = pdfium.PdfDocument.new()
    for at in range(2):
        page = document.new_page(200, 100)
        if at:
            continue
        image = pdfium.PdfImage.new(document)
        bitmap = pdfium.PdfBitmap.new_native(20, 10, pdfium.raw.FPDFBitmap_BGR)
        bitmap.fill_rect((255, 0, 0, 255), 0, 0, 20, 10)
        image.set_bitmap(bitmap)
        image.set_matrix(pdfium.PdfMatrix().scale(200, 100))
        page.insert_obj(image)
        page.gen_content()
    import io

    out = io.BytesIO()
    document.save(out)
    yield out.getvalue()


def test_a_scanned_page_is_a_picture_and_an_empty_one_is_none(scan: bytes) -> None:
    ((number, page),) = scanned_pages("scan.pdf", scan, 20)
    assert number == 1 and page.kind == "image/png" and (page.width, page.height) == (1_568, 784)
    with pytest.raises(DocumentError, match="more than 0 scanned pages"):
        scanned_pages("scan.pdf", scan, 0)
