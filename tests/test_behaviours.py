"""What engines ask has a number: logs are gone on with by the numbers they name; no prompt moves without one."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.llm_runtime.store.conftest import postgres, postgres_url

from assay import __version__
from assay.demo import demo_answers
from assay.launch import Launcher
from assay.launch.behaviours import engines, todays
from assay.registry import protocols, read_run, story_of
from assay.report.html import story_html
from llm_runtime.behaviour import Behaviour, behaving
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.prompts import load_prompt
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore, open_store

__all__ = ["postgres", "postgres_url"]
LOCK = Path(__file__).with_name("prompts.toml")


def behaviours() -> list[Behaviour]:
    found = {one.engine: one for protocol in protocols().values() for one in engines(protocol.runs[0].name)}
    return list(found.values())


def prompts_of(behaviour: Behaviour) -> dict[str, str]:
    """The digest of each prompt, today's and the older ones, by package and path."""
    found: dict[str, str] = {}
    for package in behaviour.packages:
        root = Path(str(resources.files(package)))
        for file in sorted(root.rglob("prompts/**/*.md")):
            name = ".".join([package, *file.relative_to(root).parts[:-1]])
            digest = hashlib.sha256(file.read_text(encoding="utf-8").strip().encode()).hexdigest()
            found[f"{name}/{file.stem}"] = digest[:16]
    return found


def test_a_prompt_changes_only_with_the_number_of_its_engine() -> None:
    """To change one: keep the old text in ``prompts/before_N/``, count up the engine's number to N, and write what
    this test prints into ``tests/prompts.toml``."""
    locked = tomllib.loads(LOCK.read_text(encoding="utf-8"))
    for behaviour in behaviours():
        told = locked.get(behaviour.engine, {"number": 0, "prompts": {}})
        prompts = prompts_of(behaviour)
        table = "\n".join(
            [f"[{behaviour.engine}]", f"number = {behaviour.number}", f"[{behaviour.engine}.prompts]"]
            + [f'"{name}" = "{digest}"' for name, digest in sorted(prompts.items())]
        )
        moved = sorted(name for name in prompts | told["prompts"] if prompts.get(name) != told["prompts"].get(name))
        assert not moved or behaviour.number > told["number"], (
            f"{', '.join(moved)}: changed while {behaviour.engine} is still number {behaviour.number}"
        )
        assert not moved and behaviour.number == told["number"], f"{LOCK.name} is of before number:\n{table}"


def test_a_prompt_is_read_as_the_number_in_force_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = tmp_path / "engine_of_this_test" / "prompts"
    for folder, text in (("", "now"), ("before_2", "first"), ("before_4", "second")):
        (prompts / folder).mkdir(parents=True, exist_ok=True)
        (prompts / folder / "ask.md").write_text(text)
    (prompts / "other.md").write_text("as ever")
    (prompts.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    engine = Behaviour("test", number=5, packages=("engine_of_this_test",))
    for number, text in ((1, "first"), (2, "second"), (3, "second"), (4, "now"), (5, "now")):
        with behaving([(engine, number)]):
            assert load_prompt("engine_of_this_test", "ask").render() == text
            assert load_prompt("engine_of_this_test", "other").render() == "as ever"
            assert engine.before(number + 1) and not engine.before(number)
    assert load_prompt("engine_of_this_test", "ask").render() == "now" and not engine.before(5)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunStore]:
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "runs.sqlite3"
    with closing(open_store(str(url))) as opened:
        yield opened


async def council(store: RunStore, **update: Any) -> str:
    """Keep a council whose first event says something else; return its id."""
    answers = demo_answers("council")
    run = read_run("crucible.council", {"query": answers.manifest["question"]})
    running = await Launcher(store, Settings).start(run, model=answers.model(speed=0), seed=7)
    await running.outcome()
    events = [event for _, event in store.events(running.run_id)]
    started = events[0]
    assert isinstance(started, RunStarted)
    assert (started.version, started.behaviours) == (__version__, todays("crucible.council"))
    if not update:
        return running.run_id
    with closing(store.start(started.model_copy(update={"run_id": "changed", **update}))) as log:
        for event in [*events[1:-1], RunFinished(state="stopped")]:
            log.emit(event)
    return "changed"


REFUSED = {
    "a newer release": ({"version": "9.1"}, "written by Assay 9.1"),
    "a behaviour of a newer release": ({"behaviours": {"crucible": 99}}, "behaviour 99 of crucible"),
    "a behaviour of nothing that is here": (
        {"behaviours": {"crucible": 4, "casserole": 1}},
        "behaviour 1 of casserole",
    ),
    "none, of a release that names them": ({"behaviours": {}}, "names no behaviour"),
    "no behaviour that ever was": ({"behaviours": {"crucible": 0}}, "behaviour 0 of crucible"),
    "no number, and what none asks": (
        {"version": "0.1.0", "behaviours": {}, "seed": 8},
        "none that this release knows asks what it holds",
    ),
}


@pytest.mark.parametrize(("update", "words"), REFUSED.values(), ids=REFUSED.keys())
async def test_what_this_release_cannot_go_on_with_is_one_line_and_nothing_is_written(
    store: RunStore, update: dict[str, Any], words: str
) -> None:
    run_id = await council(store, **update)
    launcher, before = Launcher(store, Settings), len(list(store.events(run_id)))
    for go_on in (launcher.replay(run_id), launcher.resume(run_id), launcher.fork(run_id, 1)):
        with pytest.raises(ConfigurationError, match=words) as refusal:
            await go_on
        assert "\n" not in str(refusal.value)
    assert story_html(story_of(store.records(run_id))).rstrip().endswith("</html>"), "it is read as ever"
    assert len(list(store.events(run_id))) == before and len(store.runs()) == 2


async def test_a_log_without_a_number_gets_the_one_by_which_its_engine_asks_what_it_holds(store: RunStore) -> None:
    run_id = await council(store, version="0.1.0", behaviours={})
    replayed = await Launcher(store, Settings).replay(run_id)
    assert replayed.result["final_response"]
