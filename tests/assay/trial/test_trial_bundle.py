"""Bundles as people pass them on: made, verified elsewhere, published, and checked in a browser page."""

from __future__ import annotations

import json
import os
import shutil
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.bundled import Bench, Opened, log_of
from tests.ai_crucible.test_ai_crucible_forgeries import FORGERIES, Place
from tests.extent import PATIENCE

from ai_crucible.bundle import verify_bundle
from ai_crucible.events import AttemptBegun, AttemptWitnessed
from assay.protocols.ai_crucible.commands.bundling import figures_line

Assay = Any
CHAIN = {"edited", "deleted", "reordered", "inserted", "rewritten", "truncated", "emptied", "rewritten or truncated"}
"""What a chain is found to be, which the page tells in fewer words."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench.at(tmp_path / "bench")
    bench.trial("one", "p.p")
    bench.trial("two", "...")
    return bench


async def test_a_bundle_is_verified_where_nothing_else_of_it_is(assay: Assay, bench: Bench, tmp_path: Path) -> None:
    key = bench.shop.ledger.signer.public_key.hex()
    bench.bundle("one").rename(tmp_path / "t.assay")
    done = await assay("trial", "verify", "t.assay")
    assert done.code == 0 and "one: m, neutral: 2 passed, 1 failed, 3 planned at each of 1 puzzle\n" in done.out
    assert "nobody has said whose key it is" in done.out
    assert "two: m, neutral: 0 passed, 3 failed, 3 planned at each of 1 puzzle; its log is not in here" in done.out
    done = await assay("trial", "verify", "t.assay", "--key", key)
    assert done.code == 0 and done.out.endswith("everything in it is as it was signed\n")
    data = json.loads((await assay("trial", "verify", "t.assay", "--key", key, "--json")).out)
    assert data["ok"] and data["trials"][0]["rests_on"]["oracle of sum"] == "2" * 64


async def test_the_words_that_all_was_drawn_from_are_told(assay: Assay, tmp_path: Path) -> None:
    bench = Bench.at(tmp_path / "bench")
    bench.trial("one", "pp", nonce="the buyer's words")
    bench.bundle("one").rename(tmp_path / "t.assay")
    done = await assay("trial", "verify", "t.assay")
    assert done.code == 0 and 'drawn from the nonce "the buyer\'s words"' in done.out, done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("verify", "cut.assay"), 1, "not a bundle: it is cut off"),
        (("verify", "nothing.assay"), 2, "no such file"),
        (("verify", "."), 2, ". cannot be read: Is a directory; name a bundle's file"),
        (("verify", "t.assay", "--key", "0" * 64), 1, "bad signature"),
        (("verify", "t.assay", "--key", "short"), 2, "neither a public key"),
        (("verify", "--key", "0" * 64), 2, "name the file too"),
        (("verify", "t.assay", "--key", "0" * 64, "--key", "1" * 64), 2, "--key is given twice"),
        (("bundle", "nobody"), 2, "no trial 'nobody'"),
    ],
)
async def test_what_is_no_bundle_is_told_in_one_line(
    assay: Assay, bench: Bench, tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    bundle = bench.bundle("one").read_bytes()
    (tmp_path / "t.assay").write_bytes(bundle)
    (tmp_path / "cut.assay").write_bytes(bundle[: len(bundle) // 2])
    done = await assay("trial", *arguments)
    assert done.code == code and says in done.out + done.err
    assert len((done.out + done.err).splitlines()) == 1


@pytest.mark.browser
@pytest.mark.long
async def test_the_page_finds_what_the_command_finds(bench: Bench, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed: no browser to try")
    page_file = tmp_path / "verify.html"
    page_file.write_bytes(resources.files("assay.protocols.ai_crucible").joinpath("verify.html").read_bytes())
    bench.trial("three", "px.", nonce="wört \U0001f4a9 \u202e\x7f\n")
    bench.trial("four", "px.")
    last = bench.shop.folder / "logs/four/2026-02-01_a.eval"
    alive = [event for event in bench.shop.attested()["four"].graded.values() if event.passed is not None]
    bench.shop.ledger.append([bench.logged("four", log_of(last, alive))])
    begun = [AttemptBegun(trial="one", puzzle="sum", epoch=4, sample=f"s{number}") for number in range(2)]
    seen = [AttemptWitnessed(trial="one", sample=one.sample, score_digest="0" * 64) for one in begun]
    bench.shop.ledger.append([*begun, *seen])
    died = bench.bundle("four").rename(tmp_path / "died.assay")
    bundle, missed = bench.bundle("one", "two"), list[str]()
    path = tmp_path / "changed.assay"
    key = bench.shop.ledger.signer.public_key.hex()
    async with playwright.async_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)

        async def verdict(path: Path) -> str:
            await page.goto(page_file.as_uri())
            await page.fill("#key", key)
            await page.set_input_files("#file", str(path))
            await page.wait_for_selector("#verdict:not(:empty)")
            return str(await page.inner_text("#verdict"))

        async def kinds() -> set[str]:
            found = [line.partition(":") for line in (await page.inner_text("#findings")).splitlines()]
            return {"the chain" if kind.startswith("event") or kind in CHAIN else kind for kind, _, _ in found}

        def by_command(path: Path) -> set[str]:
            found = verify_bundle(path, bytes.fromhex(key)).findings
            return {"the chain" if finding.kind in CHAIN else finding.kind for finding in found}

        for whole in (died, bundle):
            assert await verdict(whole) == "Everything in it is as it was signed with that key."
        told = await page.inner_text("#facts")
        for figures in verify_bundle(bundle).trials:
            assert figures_line(figures).partition(": ")[2] in told
        for number, (name, (forge, _)) in enumerate(FORGERIES.items()):
            opened = Opened.of(bundle)
            place = tmp_path / str(number)
            place.mkdir()
            made = forge(opened, Place(place, bench, path))
            if isinstance(made, bytes):
                path.write_bytes(made)
            else:
                opened.write(path)
            said = await verdict(path)
            if said != "This is not what was signed." or await kinds() != by_command(path):
                missed.append(f"{name}: {await kinds()}, {by_command(path)}")
        data = bundle.read_bytes()
        for place in (5, 8, 10, 14, len(data) // 2, len(data) - 100, len(data) - 1):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            if await verdict(path) != "This is not what was signed.":
                missed.append(f"byte {place}")
        await browser.close()
    assert missed == []
