"""The templates: nothing in their source can run or go unescaped, and whatever is put into them stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import pytest
from pydantic import Field, SecretStr

pytest.importorskip("jinja2", reason="the web extra is not installed")

from jinja2 import TemplateSyntaxError, UndefinedError, nodes
from markupsafe import Markup

from assay.batch.ledger import Batch, BatchStatus
from assay.batch.progress import BatchProgress
from assay.demo import demos
from assay.fields import Ui, fields_of
from assay.launch.model_check import Fitness
from assay.launch.model_choices import Choices, ModelChoice
from assay.protocols.crux.pages.personas import persona_page, personas_page
from assay.protocols.crux.people import PersonaRow as Author
from assay.queue.tables import QueuedEntry
from assay.report.cases import BenchCase, CaseBench, headings
from assay.report.markup import element
from assay.report.standing import RunStanding, RunVerdict
from assay.report.story import Fact, Plain, Section, Story
from assay.report.tally import Call
from assay.web.acting import new_page, onward
from assay.web.asking import Ask, asking
from assay.web.batch_starting import new_batch_page
from assay.web.beginning import Played, StartBox, UsualRun, Way, choice_fragment
from assay.web.calls import CallEvents
from assay.web.cases import LookedAt
from assay.web.composing import composer, form_field
from assay.web.forms import form_of, forms
from assay.web.guard import entrance
from assay.web.listing import Choice, ListedRuns, runs_page
from assay.web.live_runs import LiveRun, LiveRuns
from assay.web.people import ROLES, Person
from assay.web.reading import compare_page
from assay.web.settings import Checked, settings_page
from assay.web.templating import environment, render
from assay.web.views import RunPageState, events_parts, listed, run_page, story_parts, timeline_parts
from crux.comparison import CruxCandidate, SideView
from crux.results import Place
from llm_runtime.capabilities import Capabilities
from llm_runtime.events import CallFailed, CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.models import Model
from llm_runtime.price import Price
from llm_runtime.routing import Reachable
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.store import RunState, RunSummary, open_store
from llm_runtime.store.notes import Note
from llm_runtime.wrappers.accounts import Account, Caps, Spend

SHARED = {"page.html", "macros.html", "fields.html"}
"""Templates that others extend or import; they are rendered with those."""
HARMLESS = "words of a model"
HOSTILE = [
    "<script>alert(1)</script> words",
    "</textarea></details></main><img src=x onerror=alert(1)> words",
    '" onfocus=alert(1) autofocus=" \' onclick=alert(1) words',
    "&lt;script&gt; &#60;b&#62; words",
    "{{ 7 * 7 }} {% include 'error.html' %} {# words",
    "left \u202e\u2066right\u200b\x1b[31mred\x1b[0m\x07\u009b2J\ufeff\U000e0041 words",
]
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)
_STATES: tuple[RunState, ...] = ("running", "interrupted", "finished", "stopped", "failed")


LOADER = environment().loader
assert LOADER is not None
SOURCES = {name: LOADER.get_source(environment(), name)[0] for name in environment().list_templates()}
ALLOWED_FILTERS = {
    *(
        "block_markup",
        "chip_words",
        "clock",
        "cost_text",
        "count_noun",
        "duration",
        "iso_time",
        "join",
        "kind_words",
        "meaning",
        "money",
        "place_words",
    ),
    *("protocol_name", "short_count", "thousands", "tone", "with_unknown", "written", "written_time"),
    *("list", "selectattr", "unique", "urlencode"),
    *("capitalize", "int", "length", "rejectattr", "round", "selectattr", "sum"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_template_cannot_leave_the_escaping(name: str) -> None:
    tree = environment().parse(SOURCES[name])
    assert {each.name for each in tree.find_all(nodes.Filter)} <= ALLOWED_FILTERS
    # To join texts beside markup makes markup, and what is escaped that way was not cleaned.
    for kind in (nodes.Concat, nodes.Mod, nodes.MarkSafe, nodes.ScopedEvalContextModifier, nodes.Include):
        assert not list(tree.find_all(kind)), kind


@pytest.mark.parametrize("name", SOURCES)
def test_a_template_has_quoted_attributes_and_neither_script_nor_style_nor_handlers(name: str) -> None:
    markup = re.sub(r"\{#.*?#\}|\{%.*?%\}", " ", SOURCES[name], flags=re.DOTALL)
    markup = re.sub(r"\{\{.*?\}\}", "VALUE", markup, flags=re.DOTALL)
    for tag, attributes in re.findall(r"<([a-zA-Z][\w-]*)([^>]*)>", markup):
        pairs = re.findall(r'\s([\w-]+)="([^"]*)"', attributes)
        assert not re.sub(r'\s[\w-]+="[^"]*"', "", attributes).strip(), (tag, attributes)
        for attribute, value in pairs:
            assert attribute != "style" and not attribute.startswith("on"), (tag, attributes)
            if attribute in ("href", "src", "action", "data-src"):
                assert re.match(r"/(?!/)|#|data:,$", value), (tag, attributes)
        assert tag not in ("style", "iframe", "object", "embed", "base"), tag
        ours = [[("src", f"/static/{name}.js?v=VALUE"), ("defer", "")] for name in ("app", "bench")]
        assert tag != "script" or pairs in ours, attributes


def test_a_missing_name_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="message"):
        render("error.html", title="Only this")


def test_line_breaks_between_tags_are_not_in_the_page_and_errors_keep_their_line() -> None:
    source = "<p>\n  <b>{{ a }}</b>\n  {% if a %}\n  {{ a }}\n  {% endif %}\n  and <i>so</i>\n</p>"
    assert environment().from_string(source).render(a=1) == "<p><b>1</b>1\n  and <i>so</i></p>"
    with pytest.raises(TemplateSyntaxError) as caught:
        environment().from_string("<p>\n  <b>\n  {{ a b }}")
    assert caught.value.lineno == 3


def test_markup_of_reports_goes_into_a_template_as_it_is_and_what_is_joined_to_it_is_cleaned() -> None:
    made = environment().from_string("{{ a }}{{ [b, c]|join(' ') }}{{ d }}")
    text = made.render(a=element("b", "<i>\u202e"), b=Markup("<u>"), c="\u202ec", d=None)
    assert text == "<b>&lt;i&gt;</b>&lt;u&gt; c"


# ---- Every template, filled in with a text -----------------------------------------------------------------------


def summary(text: str, state: RunState = "finished", **changes: Any) -> RunSummary:
    fields = {"run_id": f"r-{state}", "protocol": "crucible", "title": text, "state": state, "origin": "demo"}
    fields |= {"started_at": 5, "updated_at": 70, "parent": "r-1", "events": 9, "calls": 2, "input_tokens": 3}
    return RunSummary(**{**fields, "output_tokens": 4, "cost": 5, "cost_unknown": True, **changes})


def story(text: str) -> Story:
    return Story(text, text, "good", (Fact(text, text),), (Section(text, (Plain(text),)),))


def batch(text: str) -> BatchProgress:
    of = Batch("autumn", "abcdef", text, "crucible", "", [], {}, "open", created_at=1)
    purse = Account(Caps(), Spend(1, 2, 3), Spend())
    return BatchProgress(of, BatchStatus({"running": 1, "dead": 1}, {text: 1}, 0.0), purse, None)


class Runs:
    """A run under way and one that has ended, with the text wherever a model or a person may write."""

    def __init__(self, folder: Path, text: str) -> None:
        self.text = text
        self._store = open_store(folder / "runs.db")
        self._hub = LiveRuns(self._store)
        self._log = self._started("under-way")
        ended = self._started("ended")
        ended.emit(RunFinished(state="failed", error="Fault", message=text))
        ended.close()

    def _started(self, run_id: str) -> Any:
        log = self._store.start(
            RunStarted(run_id=run_id, protocol="weather", title=self.text, task={}, settings={}, seed=1, origin="demo")
        )
        for number in range(9):
            label = CallLabel("weather", self.text, f"{number}:{self.text}", 1, 1 + number % 2)
            messages = (Message("system", self.text), Message("user", f"{number} {self.text}"))
            call = CallStarted.of(Request(self.text, messages, label), {}, lambda *_: False)
            log.emit(call)
            if number == 0:
                log.emit(CallFinished.of(call, Reply(self.text, self.text, "p", Usage(3, 1))))
            elif number == 1:
                log.emit(CallFailed(digest=call.digest, occurrence=1, error=self.text, message=self.text))
        return log

    def watch(self, run_id: str) -> LiveRun:
        return self._hub.watch(run_id)

    def pages(self) -> str:
        """Every view of both, as pages and alone."""
        state = RunPageState(owned=True, asks=asks(self.text), fault=self.text)
        shown: list[str] = []
        for run_id in ("under-way", "ended"):
            watch = self.watch(run_id)
            for view, parts_of in (("story", story_parts), ("timeline", timeline_parts), ("events", events_parts)):
                shown += [run_page(watch, parts_of(watch, each), view, "m") for each in (state, RunPageState())]
            shown.append(run_page(watch, listed(watch, state, 2), "events", None))
        return "".join(shown)

    def close(self) -> None:
        self._log.close()
        self._store.close()


def asks(text: str) -> tuple[Ask, ...]:
    ways = {"type": "string", "title": text, "oneOf": [{"const": text, "title": text}, {"const": "b"}]}
    texts = {"choice": ways, "notes": {"type": "string", "title": text}}
    fields = {"type": "object", "required": ["choice"], "properties": texts}
    messages = (("system", text), ("user", text))
    return (
        Ask("q1", text, messages, "", text),
        Ask("q2", text, messages[:1], json.dumps({"type": "object", "title": text})),
        Ask("q3", text, (), json.dumps(ways)),
        Ask("q4", text, messages, json.dumps(fields)),
    )


def new_pages(text: str) -> str:
    filled_in = [form_of(run.name) for run in forms()]
    values = {spec.name: text for form in filled_in for spec in form.fields}
    values |= dict.fromkeys(("model", "seats", "budget", "max_calls", "seed"), text)
    return "".join(new_page(form, ["openrouter", text], values, text) + new_page(form, [], {}) for form in filled_in)


def calls(text: str) -> str:
    call, place = Call(CallLabel("weather", text, text), text, 5, replayed=False), CallEvents(3, 4)
    request = {"model": text, "messages": [{"role": text, "content": text}], "schema": text}
    outcomes: list[dict[str, Any]] = [{"reply": {"model": text, "text": text}}, {"error": text, "message": text}, {}]
    shown = {"call": call, "place": place, "request": request, "options": {"seed": text}, "forks": True}
    return "".join(render("call.html", run_id="r-1", outcome=outcome, **shown) for outcome in outcomes)


def opened(text: str) -> str:
    event = render("event.html", run_id="r-1", seq=5, payload=text, forks=False)
    return "".join(
        render("opened.html", run_id="r-1", title=text, heading=text, view=view, fragment=event)
        for view in ("timeline", "events")
    )


def people(text: str) -> list[Author]:
    return [
        Author("a", text, 1, None, "not built"),
        Author("b", text, 2, 1, "built"),
        Author("c", text, 0, None, "not built", text),
        Author("d", text, 9, 9, "comes with Assay"),
    ]


def known_here(text: str) -> str:
    listed = [Person.model_validate({"name": text, "role": role, "budget": 5}) for role in ROLES]
    purses = {text: Account(Caps(), Spend(5, 5, 5), Spend())}
    page = {"listed": listed, "purses": purses, "sessions": {text: 2}, "roles": ROLES, "link": text, "fault": text}
    nobody = {"listed": [], "purses": {}, "sessions": {}, "link": "", "fault": ""}
    return render("people.html", **page) + render("people.html", **{**page, **nobody})


def persona_pages(text: str) -> str:
    return "".join(
        persona_page(each, story(text) if each.ready else None, reachable, {"model": text}, text)
        for each in people(text)
        for reachable in ([text], [])
    )


def homes(text: str) -> str:
    runs = [summary(text, state) for state in _STATES]
    known = dict(zip(demos(), runs, strict=True))
    every = [{name: Played(run, missing) for name, run in known.items()} for missing in ("", text)]
    every += [{name: Played(None, missing) for name in known} for missing in ("", text)]
    protocols = [protocol for protocol, _ in demos().values()]

    def home(box: StartBox, played: dict[str, Played], latest: list[RunSummary]) -> str:
        page = {"text": box.model, "choice": choice_fragment(box), "protocols": protocols, "played": played}
        return render("home.html", **page, latest=latest, seen=seen(text, latest))

    return "".join(home(boxes(text)[0], played, runs) for played in every) + home(boxes(text)[1], every[0], [])


def boxes(text: str) -> tuple[StartBox, StartBox]:
    way = Way(forms()[0], text, UsualRun(1, 2, None, 3, text))
    chips = (ModelChoice(text, None, 5, text), ModelChoice("a", Price(1, 2)), ModelChoice("b", Price(0, 0), None))
    form = composer(forms()[0], form_of(forms()[0].name).fields, reachable=True, without="query")
    choices = Choices(chips, (text,), (Reachable(text, text, [text], text),))
    return (
        StartBox([way, Way(forms()[0])], choices, True, forms()[0].name, text, True, form),
        StartBox([], Choices(), False, "", "", False, composer(None, (), reachable=False)),
    )


def settings_pages(text: str) -> str:
    config = ConfigFile.model_validate({"model": text, "endpoints": {"mine": {"base_url": "http://mine/v1"}}})
    settings = Settings(keys={"mistral": Key(SecretStr("secret"), text)}, config=config)
    chosen = boxes(text)[0].choices
    checked = Checked(Capabilities(text, text, (), 1, 2), [Fitness(text, "limits", (text,)), Fitness("a", "no", ())])
    faults = Choices(chosen.chips, (), (Reachable("mine", text, [], text), Reachable("mistral", text, [text])))
    return settings_page(settings, faults, {text: checked}, text) + settings_page(Settings(), Choices(), {})


def run_lists(text: str) -> str:
    runs = [summary(text, state) for state in _STATES] + [summary(text, origin="live", parent="", calls=0)]
    notes = {run.run_id: [Note(run.run_id, text, text, 3, text)] for run in runs}
    listed = ListedRuns(runs, seen(text, runs), {run.run_id: [text] for run in runs}, notes, True, 3)
    none, asked = ListedRuns([], {}, {}, {}, False, 0), Choice(text, text, text, text)
    lists = runs_page(listed, [batch(text)], asked, [text], [text])
    return lists + runs_page(none, [], Choice(), [], []) + runs_page(none, [], asked, [], [])


def bench(text: str) -> LookedAt:
    note = Note("r-1", text, text, 3, text)
    cases = (
        BenchCase(text, "failed", (text, 0.5), text, text, "r-1", text, (note,)),
        BenchCase(text, "done", (None, 200.0), text),
    )
    return LookedAt("batches/b", text, CaseBench(headings(text, numbers=("F",)), cases))


def benches(text: str) -> str:
    beside = one_case(text)
    none = LookedAt("batches/b", text, CaseBench((), ()))
    pages = ({"bench": bench(text), "beside": beside}, {"bench": none, "beside": None})
    return "".join(render("cases.html", me=text, **page) for page in pages)


def one_case(text: str) -> Markup:
    looked = bench(text)
    told = {"blocks": [Plain(text)], "since": text, "before": (text, 0.25)}
    return Markup("").join(
        render("case.html", bench=looked, case=case, me=text, **more)
        for case, more in zip(looked.cases.cases, (told, {"blocks": [], "since": "", "before": ()}), strict=True)
    )


def written_beside(text: str) -> str:
    notes = [Note("r-1", text, text, 3, text), Note("r-1", "me")]
    return render("notes.html", run_id="r-1", notes=notes, tags=[text], me=text)


def sides(text: str) -> str:
    return compare_page((summary(text), story(text)), (summary(text), Story(text, text)))


def votes(text: str) -> str:
    counts = {"c1": {"agree": 1, "disagree": 2, "pass": 3}}
    group = {"readers": 3, "claims": [{"claim": "c1", "inside": 0.5, "outside": 0.25}]}
    groups = {"groups": [group], "common": ["c1"], "why": text}
    place = Place(item="a", start=0, end=1, quote=text)
    side = SideView(claim="c1", text=text, stance="holds", places=(place,), author=text, answer="YES")
    crux = CruxCandidate(question=text, sides=(side,), confirmed=True, rests=0)
    return render(
        "crux/votes.html",
        **{"run_id": "r-1", "at": "votes/r-1", "link": text, "reader": text, "claims": {"c1": text}},
        **{"votes": counts, "own": {"c1": "agree"}, "groups": groups, "cruxes": [crux]},
    )


def seen(text: str, runs: list[RunSummary]) -> dict[str, RunStanding]:
    return {run.run_id: RunStanding("finished", RunVerdict(text, text, text, gist=text), (text,), text) for run in runs}


def entry(text: str, state: str) -> QueuedEntry:
    return QueuedEntry(1, state, text, text, text, "0.1.0", 3, 0, datetime(2026, 1, 1, tzinfo=UTC), text)


PAGES: dict[str, Callable[[str], str]] = {
    "asks.html": lambda text: asking("r-1", asks(text)) + asking("r-1", ()),
    "case.html": one_case,
    "cases.html": benches,
    "batch.html": lambda text: render("batch.html", progress=batch(text), story=story(text)),
    "batches.html": lambda text: "".join(
        render("batches.html", batches=batches, live=bool(batches)) for batches in ([batch(text)], [])
    ),
    "call.html": calls,
    "choice.html": lambda text: "".join(choice_fragment(box) for box in boxes(text)),
    "compare.html": sides,
    "entrance.html": lambda text: entrance(text) + entrance(text, people=True),
    "error.html": lambda text: render("error.html", title=text, message=text),
    "event.html": lambda text: render("event.html", run_id="r-1", seq=5, payload=text, forks=True),
    "fork.html": lambda text: onward("fork.html", summary(text), [text], {"at": text}, text),
    "home.html": homes,
    "new.html": new_pages,
    "new_batch.html": lambda text: new_batch_page("crucible.council", {"title": text, "rows": text}, text),
    "opened.html": opened,
    "notes.html": written_beside,
    "people.html": known_here,
    "crux/persona.html": persona_pages,
    "crux/personas.html": lambda text: personas_page(
        people(text), text, {"name": text, "path": text, "text": text}, text
    ),
    "pick.html": lambda text: (
        render("pick.html", chosen=summary(text), runs=[summary(text, "failed")])
        + render("pick.html", chosen=None, runs=[])
    ),
    "queue.html": lambda text: "".join(
        render("queue.html", entries=[entry(text, state) for state in states], live=bool(states))
        for states in (("waiting", "running", "failed", "done"), ())
    ),
    "resume.html": lambda text: onward("resume.html", summary(text), [], {"seats": text, "model": text}, text),
    "runs.html": run_lists,
    "settings.html": settings_pages,
    "crux/votes.html": votes,
}
OF_A_RUN = {
    *("contents.html", "events.html", "masthead.html", "now.html", "phase.html", "run.html", "section.html"),
    "timeline.html",
}
"""Templates of a run's views, which need a run."""


def test_no_template_is_left_out_here() -> None:
    assert {*PAGES, *OF_A_RUN, *SHARED} == set(environment().list_templates())


class Structure(HTMLParser):
    """What stands in markup beside text: tags and the names of their attributes.

    Lines and words of pictures are left out: how many a scale has depends on how long the calls took.
    """

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.shape: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("line", "text"):
            self.shape.append(f"<{tag} {' '.join(name for name, _ in attrs)}>")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "text"):
            self.shape.append(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.shape.append("comment")


@cache
def harmless_shape(fill: Callable[[str], str]) -> list[str]:
    return Structure(fill(HARMLESS)).shape


def check(fill: Callable[[str], str], text: str) -> None:
    filled = fill(text)
    assert "words" in filled
    assert not CONTROLS.search(filled)
    assert Structure(filled).shape == harmless_shape(fill)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_put_into_a_template_stays_text(name: str, text: str) -> None:
    check(PAGES[name], text)


@cache
def pages_of_runs(text: str) -> str:
    with TemporaryDirectory() as folder, closing(Runs(Path(folder), text)) as runs:
        return runs.pages()


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_run_holds_stays_text(text: str) -> None:
    check(pages_of_runs, text)
    assert all(words in pages_of_runs(text) for words in ("calls in flight", "Your turn", "Over time", "Events 3 to"))


# ---- Fields of a form --------------------------------------------------------------------------------------------


class Weather(Model):
    """A task with a field of each kind that has more to it than a text."""

    k: int = Field(default=3, ge=1, le=9)
    """Attempts."""
    share: float | None = Field(default=None, ge=0.5)
    fast: bool = True
    who: Annotated[tuple[str, ...], Ui(suggest="builtins:dir")]
    """Who is asked."""


def filled(value: object, name: str) -> str:
    source = '{% from "fields.html" import form_fields %}{{ form_fields([field], {field.spec.name: value}) }}'
    spec = next(spec for spec in fields_of(Weather) if spec.name == name)
    return environment().from_string(source).render(field=form_field(spec), value=value)


def test_a_number_has_its_bounds_and_its_default() -> None:
    whole = filled(None, "k")
    assert 'value="3" min="1" max="9" step="1"' in whole and "Attempts." in whole
    assert 'min="0.5" step="any"' in filled("0.7", "share")


def test_yes_and_no_are_chosen_and_what_was_chosen_stays() -> None:
    assert 'value="true" checked=""' in filled(None, "fast") and 'value="true">' in filled("false", "fast")
    assert '<input type="hidden" name="fast" value="false">' in filled(None, "fast"), "what is not ticked is no"


def test_a_list_says_what_may_stand_in_it() -> None:
    shown = filled("self\nsomebody", "who")
    assert 'value="self" checked=""' in shown and "Who is asked." in shown
    assert ">somebody</textarea>" in shown, "others may stand in it, too"
