"""The composer: each of the five kinds begun by at most six actions without typed syntax; models found by search."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.async_api", reason="playwright is not installed: no browser")
from playwright.async_api import Page, expect

from assay.registry import Prepared
from assay.terms import Terms
from assay.web.composing import composer
from assay.web.forms import form_of, forms
from llm_runtime.errors import ConfigurationError
from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, Web, council_answer, served


class Hand:
    """Acts on a page as a person does, and counts: a click, a text typed, a key pressed are one action each."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.actions = 0

    async def type(self, label: str, text: str) -> None:
        self.actions += 1
        await self.page.get_by_label(label, exact=True).press_sequentially(text)

    async def tick(self, label: str) -> None:
        self.actions += 1
        await self.page.get_by_label(label).check()

    async def choose(self, text: str) -> None:
        self.actions += 1
        await self.page.get_by_role("option", name=text).click()

    async def press(self, button: str) -> None:
        self.actions += 1
        await self.page.get_by_role("button", name=button, exact=True).click()


@pytest.fixture
async def reaching(store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Web]:
    """A server that reaches two models."""
    async with LoopbackServer(council_answer, models=("tiny-one", "vendor/large-two")) as models:
        given = {"DATA_DIR": str(tmp_path), "CONFIG_DIR": str(tmp_path), "LOCAL_SERVERS": ""}
        for name, value in given.items():
            monkeypatch.setenv(f"ASSAY_{name}", value)
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-canary-0123456789")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{models.url}/v1")
        async with served(store) as web:
            yield web
    store.close()


@pytest.fixture
async def signed_in(page: Page, reaching: Web) -> AsyncIterator[Web]:
    """The same, with a browser that is let in."""
    page.set_default_timeout(30_000)
    await page.goto(f"{reaching.url}/open?key={TOKEN}")
    yield reaching
    await page.goto("about:blank")  # before the server goes away


KINDS = {
    "crucible.council": ("Ask a council", "Which database should a team of three run?", ()),
    "fire_circle.circle": ("Judge a prompt", "Obey me, as we agreed.", ()),
    "ai_crucible.trial": ("Try a model", "How reliable is it?", ()),
    "criticality.build": ("Build from an interview", "A parser of dates", (("Project", "dates"),)),
    "crux.debate": ("Hold a debate", "Should software decide who waits?", ()),
}
PERSONAS = ("ilario-fennimast", "maud-tarrowby")


@pytest.mark.browser
@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_is_begun_by_at_most_six_actions(
    page: Page, signed_in: Web, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    title, text, more = KINDS[kind]
    begun: list[tuple[Prepared, Terms]] = []

    async def start(run: Prepared, terms: Terms, **told: object) -> str:
        begun.append((run, terms))
        raise ConfigurationError("seen")  # what the form says counts here: the run itself is another test's

    monkeypatch.setattr(signed_in.site.runs, "start", start)
    await page.goto(signed_in.pages)
    hand = Hand(page)
    await hand.type("Your question, or a file", text)
    await hand.tick(title)
    await page.locator(f"[id='fields-{kind}']").wait_for()
    for label, said in more:
        await hand.type(label, said)
    if kind == "crux.debate":
        for name in ("ilario-fennimast", "maud-tarrowby"):
            await hand.tick(name)
        await hand.type("Model", "large")  # one model has it in its name
    else:
        await hand.type("Model", "large")
        await hand.choose("openrouter:vendor/large-two")
    await hand.press("Start")
    await page.get_by_text("seen", exact=True).wait_for()
    assert hand.actions <= 6
    ((run, terms),) = begun
    assert run.run.name == kind
    assert terms.model == "openrouter:vendor/large-two"
    page.said.clear()  # type: ignore[attr-defined]


@pytest.mark.browser
async def test_a_model_is_found_by_keyboard_with_its_price_and_what_is_changed_is_counted(
    page: Page, signed_in: Web
) -> None:
    await page.goto(f"{signed_in.pages}/new?kind=crucible.council")
    await page.get_by_label("Model", exact=True).press_sequentially("vend lar")
    option = page.locator(".models li:visible")
    await expect(option).to_have_count(1)
    await expect(option).to_contain_text("price unknown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Model", exact=True)).to_have_value("openrouter:vendor/large-two")
    summary = page.locator(".advanced > summary")
    await expect(summary).to_contain_text("24 set to their defaults")
    await summary.click()
    await page.get_by_label("Red team").click()
    await page.get_by_role("option", name="me you answer").click()
    await page.get_by_label("A council only where there is doubt").check()
    await expect(summary).to_contain_text("2 set, 22 set to their defaults")
    await page.get_by_label("Add to Panel").click()
    await page.get_by_role("option", name="tiny").click()
    await expect(page.get_by_label("Panel", exact=True)).to_have_value("openrouter:tiny-one")
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.get_by_role("dialog", name="Keys").wait_for()


def test_no_form_shows_more_than_three_choices_beside_what_is_asked() -> None:
    for run in forms():
        shown = composer(run, form_of(run.name).fields, reachable=True)
        assert len(shown.choices) <= 3, run.name
        names = [one.spec.name for one in (*shown.main, *shown.choices)]
        names += [one.spec.name for several in shown.groups.values() for one in several]
        form = form_of(run.name)
        assert sorted(names) == sorted(spec.name for spec in (*form.fields, *form.terms))


async def test_what_is_ticked_more_than_once_is_a_list_and_what_is_not_is_false(web: Web) -> None:
    body = "kind=crux.debate&topic=Tolls%3F&personas=nobody-a&personas=nobody-b&baselines=false&model=nobody:x"
    kind = {"content-type": "application/x-www-form-urlencoded"}
    async with web.client.post(web.url + "/runs", data=body, headers=kind) as answer:
        page = await answer.text()
    assert answer.status == 422 and "nobody-a" in page, "both names reached the engine, which knows neither"


async def test_models_are_found_by_parts_of_their_names(reaching: Web) -> None:
    told = await reaching.json("/models.json?search=LARGE%20vendor")
    assert [each["name"] for each in told["models"]] == ["openrouter:vendor/large-two"]
    assert told["models"][0]["carries"] is None, "nobody checked it"
