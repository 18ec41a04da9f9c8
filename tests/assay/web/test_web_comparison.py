"""Two authors compared from the web form; then readers vote on the claims that were found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.assay.debate.test_debate_compare import answering
from tests.crux.test_crux_compare import ANN, BEN

from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer

pytest.importorskip("bm25s", reason="a comparison needs the extra 'debate'")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_PEOPLE", str(tmp_path / "people"))
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture
async def compared(web: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a comparison that was started with the form's fields, and came to its end."""
    for name, texts in (("Ann Ash", ANN), ("Ben Birch", BEN)):
        code, told = await web.post("/api/personas", name=name, text="\n\n".join(texts))
        assert code == 201, told
    async with LoopbackServer(answering) as server:
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary-0123456789abcdef")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{server.url}/v1")
        code, told = await web.post("/runs", kind="crux.compare", authors=["Ann Ash", "ben-birch"], topic="tolls")
        assert code == 201, told
        await web.state(told["run_id"], "finished")
    return told["run_id"]


async def test_the_form_offers_a_comparison_and_its_page_opens_to_the_sentences(web: Any, compared: str) -> None:
    _, form = await web.get("/new?kind=crux.compare")
    assert "Compare authors" in form and 'name="authors"' in form and 'name="tokens_a_call"' in form
    _, page = await web.get(f"/runs/{compared}")
    assert "Should whoever crosses a bridge pay for it?" in page
    assert "Whoever crosses should pay for the planks." in page
    assert "<th" in page and "Ann Ash" in page


async def test_two_names_of_one_author_are_refused_in_words(web: Any) -> None:
    await web.post("/api/personas", name="Ann Ash", text=ANN[0])
    code, told = await web.post("/runs", kind="crux.compare", authors=["Ann Ash", "ann-ash"])
    assert code == 400 and "named twice" in told["message"]


async def test_readers_vote_without_an_account_and_see_groups_once_there_are_enough(web: Any, compared: str) -> None:
    status, _ = await web.get(f"/votes/{compared}")
    assert status == 303, "a reader gets a chance name"
    told = await web.json(f"/votes/{compared}.json")
    claims = list(told["claims"])
    assert len(claims) >= 4 and not any("Ann" in text for text in told["claims"].values())
    assert "8 readers" in told["groups"]["why"]
    for reader in range(10):
        for place, claim in enumerate(claims):
            side = "agree" if (reader < 6) == (place % 2 == 0) else "disagree"
            code, _ = await web.post(f"/votes/{compared}", reader=f"reader-{reader}", claim=claim, vote=side)
            assert code == 201
    told = await web.json(f"/votes/{compared}.json")
    assert [group["readers"] for group in told["groups"]["groups"]] == [6, 4]
    assert told["votes"][claims[0]] == {"agree": 6, "disagree": 4, "pass": 0}
    _, page = await web.get(f"/votes/{compared}?reader=reader-1")
    assert "6 readers" in page and 'aria-pressed="true"' in page and "Ann Ash:" not in page


@pytest.mark.parametrize(
    "said",
    [
        {"reader": "r", "claim": "", "vote": "agree"},
        {"reader": "../../etc/passwd", "claim": "", "vote": "agree"},
        {"reader": "reader-1", "claim": "c-nowhere", "vote": "agree"},
        {"reader": "reader-1", "claim": "", "vote": "buy"},
    ],
)
async def test_what_is_no_vote_is_refused_and_not_kept(
    web: Any, compared: str, said: dict[str, str], tmp_path: Path
) -> None:
    claim = next(iter((await web.json(f"/votes/{compared}.json"))["claims"]))
    code, told = await web.post(f"/votes/{compared}", **{**said, "claim": said["claim"] or claim})
    assert code == 400 and "a vote needs a reader" in told["message"]
    assert not list((tmp_path / "data" / "votes").glob("*.jsonl"))


async def test_a_link_with_its_key_opens_the_page_of_votes_and_nothing_else(web: Any, compared: str) -> None:
    """Whoever is given the link votes without an account; the same address with another key leads nowhere."""
    link = (await web.json(f"/votes/{compared}.json"))["link"]
    claims = (await web.json(f"/votes/{compared}.json"))["claims"]
    async with aiohttp.ClientSession() as stranger:
        async with stranger.get(f"{link}?reader=reader-one") as page:
            shown = await page.text()
            assert page.status == 200 and "Whoever is given this link" not in shown and 'role="banner"' not in shown
        vote = {"reader": "reader-one", "claim": next(iter(claims)), "vote": "agree"}
        async with stranger.post(link, data=vote, allow_redirects=False) as cast:
            assert cast.status == 303
        async with stranger.get(link[:-4] + "AAAA") as wrong:
            assert wrong.status == 404
        for inside in (f"/votes/{compared}", f"/runs/{compared}", "/settings"):
            async with stranger.get(f"{link.split('/part/')[0]}{inside}") as closed:
                assert closed.status == 403
    told = await web.json(f"/votes/{compared}.json")
    assert told["votes"][vote["claim"]]["agree"] == 1


async def test_only_a_comparison_can_be_voted_on(web: Any, council: Any, store: RunStore) -> None:
    code, _ = await web.get(f"/votes/{await council()}.json")
    assert code == 404 and store.summary("council-1").state == "finished"
    assert (await web.get("/votes/nowhere.json"))[0] == 404
