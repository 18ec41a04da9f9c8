"""What stands around a council: letters, drawn orders, compared conclusions, checked quotations."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from assay.protocol import RunContext
from assay.protocols.crucible.council import run as hold_council
from assay.protocols.crucible.task import Options, Task
from assay.terms import Terms
from crucible.events import Concluded, SeatAnswered, Shortened
from crucible.material import Attachment, check_window, fitted
from crucible.prose.around import fenced, grounded
from crucible.quotations import quotations
from llm_runtime.errors import ConfigurationError, ContextExceeded, LlmRuntimeError
from llm_runtime.events import Event
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.providers.scripted import scripted

ROLES = ("pragmatist", "domain_expert", "red_team", "creative")


def triage(grammar: str = "parallel", loops: int = 3) -> str:
    return json.dumps(
        {
            "reconstructed_query": "Precisely: migrate?",
            "complexity": "complex",
            "short_circuit_allowed": False,
            "council": [{"role": role, "system_prompt": f"Be the {role}.", "model_hint": None} for role in ROLES],
            "loop_grammar": grammar,
            "loop_count": loops,
            "red_team_flavor": "logical",
            "allow_early_exit": True,
            "synthesis_instruction": "Short.",
        }
    )


class Held:
    """A council held by a scripted model, what it was asked and what it emitted."""

    def __init__(self, seed: int = 7, grammar: str = "parallel", loops: int = 3, **answers: Any) -> None:
        self.asked: list[Request] = []
        self.events: list[Event] = []
        self.seed, self.grammar, self.loops, self.answers = seed, grammar, loops, answers

    def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        phase = request.label.phase
        said = self.answers.get(phase, f"{request.label.seat} writes {phase} {request.label.round}.")
        text = triage(self.grammar, self.loops) if phase == "triage" else said
        return Reply(text(request) if callable(text) else text, "m", "p", Usage(10, 10))

    async def hold(self, options: Options | None = None, **task: Any) -> dict[str, Any]:
        context = RunContext("r", self.seed, scripted(self.answer), self.events.append, lambda: 0, Terms())
        return await hold_council(Task(query="Migrate?", **task), options or Options(form="prose"), context)

    def prompts(self, phase: str) -> list[str]:
        chosen = [request for request in self.asked if request.label.phase == phase]
        return ["\n".join(message.content for message in request.messages) for request in chosen]


def order(prompt: str) -> list[str]:
    return re.findall(r"<<<(?:LOOP \d )?POSITION of (\S+) [0-9a-f]{16}>>>", prompt)


async def test_red_team_and_synthesis_know_seats_by_letters_in_an_order_drawn_from_the_seed() -> None:
    first, again = Held(seed=1, loops=2), Held(seed=1, loops=2)
    await first.hold()
    await again.hold()
    assert first.prompts("critique") == again.prompts("critique")
    assert first.prompts("synthesis") == again.prompts("synthesis")
    orders = set[str]()
    for seed in range(12):
        held = Held(seed=seed, loops=2)
        await held.hold()
        for prompt in (*held.prompts("critique"), *held.prompts("synthesis")):
            assert not re.search(r"\d:(?:pragmatist|creative|domain_expert) [0-9a-f]{16}>>>", prompt)
        orders.add("".join(order(held.prompts("critique")[0])))
        assert sorted(order(held.prompts("critique")[0])) == ["A", "B", "C"]
    assert len(orders) >= 4, "the order is not always the same"


async def test_a_seat_knows_its_own_letter_and_what_it_wrote_is_not_touched() -> None:
    held = Held(loops=2, position="As 0:pragmatist said, POSITION of 0:pragmatist.")
    await held.hold()
    revision = held.prompts("position")[3]
    (letter,) = re.findall(r"You are ([ABC])\b", revision)
    assert f"<<<YOUR OWN POSITION {letter} " in revision
    assert revision.count("As 0:pragmatist said, POSITION of 0:pragmatist.") == 3


async def test_targets_of_a_debate_are_named_by_letters_and_read_by_the_engine() -> None:
    held = Held(grammar="debate", loops=2, critique="1. Weak.\n\nTARGETS: Position B")
    await held.hold()
    names = re.findall(r"The labels are: (.*)\.", held.prompts("critique")[0])
    assert names == ["A, B, C"] or sorted(names[0].split(", ")) == ["A", "B", "C"]
    defenders = [request.label.seat for request in held.asked if request.label.phase == "defence"]
    assert len(defenders) == 2 and len(set(defenders)) == 1
    assert "TARGETS: Position B" in held.prompts("defence")[0] or "TARGETS: B" in held.prompts("defence")[0]


async def test_a_draft_keeps_its_order() -> None:
    held = Held(grammar="sequential", loops=2)
    await held.hold()
    assert order(held.prompts("synthesis")[0]) == ["A", "B", "C"] * 2


async def test_without_attachments_the_model_function_is_the_same() -> None:
    async def generate(request: Request) -> Reply:
        raise AssertionError(request)

    assert grounded(generate, (), 1) is generate


def conclusions(same: bool, now: str = "Migrate slowly.") -> str:
    roles = [role for role in ROLES if role != "red_team"]
    return json.dumps(
        {"conclusions": [{"role": r, "before": "Migrate slowly.", "after": now, "same": same} for r in roles]}
    )


STILL = [conclusions(True), conclusions(True, "Go, but slowly."), conclusions(False)]
"""Twenty answers of a judge about conclusions that stand still, in the forms that judges use; by hand."""
STILL += [f"```json\n{conclusions(True)}\n```", f"They agree.\n\n{conclusions(True)}", conclusions(False).upper()]
STILL += [conclusions(True).replace("true", "True"), f"<think>hm</think>{conclusions(True)}"]
STILL += [json.dumps(json.loads(conclusions(True, f"Migrate slowly, part {n}."))) for n in range(12)]


async def test_councils_whose_conclusions_stand_still_end_after_their_second_loop() -> None:
    ended = 0
    for number, judgment in enumerate(STILL):
        held = Held(
            seed=number,
            loops=4,
            delta=judgment,
            # Every loop is a new text with new reasons, as seats are told to write: only the conclusion stands.
            position=lambda r: f"Migrate slowly. {r.label.seat} has a new reason, number {r.label.round}.",
        )
        result = await held.hold()
        ended += result["loops_executed"] == 2 and result["early_exit"]
    print(f"{ended} of {len(STILL)} councils ended after loop 2")
    assert len(STILL) == 20 and ended >= 15


@pytest.mark.parametrize("judgment", [conclusions(False, "Stay."), "NO", "", '{"conclusions": []}', "{" * 50])
async def test_another_conclusion_and_an_unreadable_judgment_count_as_changed(judgment: str) -> None:
    held = Held(loops=3, delta=judgment)
    assert (await held.hold())["loops_executed"] == 3


async def test_what_was_concluded_is_told() -> None:
    held = Held(delta=conclusions(False, "Stay."))
    await held.hold()
    told = [event for event in held.events if isinstance(event, Concluded)]
    assert {(one.role, one.after, one.same) for one in told} == {
        (role, "Stay.", False) for role in ROLES if role != "red_team"
    }


A1 = Attachment(name="a.py", text="def top(xs):\n    return sorted(xs)[0]\n# The smallest one comes first.")


@pytest.mark.parametrize(
    ("text", "found", "place"),
    [
        ('It says "return sorted(xs)[0]" [A1:2].', "exact", "A1, line 2"),
        ("It says “The  smallest ONE comes first” somewhere.", "folded", "A1, line 3"),
        ('It says "return sorted(xs)[0]" [A1:3].', "exact", "A1, line 2"),
        ('It says "return max(xs) for all of them" [A1:2].', "nowhere", ""),
        ('It says "2|     return sorted(xs)[0]" [A1:2].', "exact", "A1, line 2"),
        ("See [A1:1-3].", "exact", "A1, lines 1 to 3"),
        ("See [A1:9].", "nowhere", "A1, line 9"),
        ("See [A7].", "nowhere", "A7"),
        ('As she said, "the lists are never empty here", so it holds.', "exact", "Pragmatist"),
        ('"def top(xs): return sorted(xs)[0]" [A1:1-2]', "folded", "A1, lines 1 to 2"),
    ],
)
def test_each_quotation_is_found_or_marked(text: str, found: str, place: str) -> None:
    others = [("Pragmatist", "Yes: the lists are never empty here, by the caller.")]
    (one,) = quotations(text, {"A1": A1}, others)
    assert (one.found, one.place) == (found, place)


def test_two_words_in_marks_are_a_way_of_speaking() -> None:
    assert quotations('The so-called "happy path" and "it".', {"A1": A1}, []) == []


def test_what_does_not_fit_the_smallest_window_says_what_to_leave_out() -> None:
    dossier = [Attachment(name="small.txt", text="word " * 50), Attachment(name="big.txt", text="word " * 5_000)]
    check_window(dossier, None)
    check_window(dossier, 100_000)
    with pytest.raises(ConfigurationError) as refused:
        check_window(dossier, 4_096)
    assert "big.txt (25,000 characters)" in str(refused.value) and "small.txt" not in str(refused.value)
    assert "4,096" in str(refused.value) and "--fit" in str(refused.value)


async def test_the_window_is_asked_for_before_any_call() -> None:
    held = Held()

    async def window() -> int:
        return 2_048

    context = RunContext("r", 1, scripted(held.answer), held.events.append, lambda: 0, Terms(), window=window)
    task = Task(query="Q?", dossier=[Attachment(name="big.txt", text="word " * 5_000)])
    with pytest.raises(ConfigurationError, match="leave out big"):
        await hold_council(task, Options(), context)
    assert not held.asked


def test_passages_are_chosen_by_the_words_of_the_question() -> None:
    lines = [f"nothing of note {number}" for number in range(1_000)]
    lines[500] = "the frobnicator overheats"
    (one,) = fitted([Attachment(name="log", text="\n".join(lines))], "Why does the frobnicator overheat?", 300)
    assert one.shown and any(first <= 501 <= last for first, last in one.shown)
    assert "501| the frobnicator overheats" in one.numbered() and "left out]" in one.numbered()


@pytest.mark.parametrize("known", (True, False), ids=("by how much", "not by how much"))
async def test_a_prompt_that_exceeds_the_window_is_asked_with_earlier_texts_cut(known: bool) -> None:
    """A small model's last prompt holds every loop; the question, its instruction and the last loop count most."""
    most = 14_000

    def narrow(request: Request) -> str:
        size = sum(len(message.content) for message in request.messages)
        if size > most:
            fault = ContextExceeded("the prompt has more tokens than the model reads")
            fault.asked, fault.window = (size // 4, most // 4) if known else (None, None)
            raise fault
        return "All in all: yes."

    def position(request: Request) -> str:
        return f"Begins {request.label.seat}-{request.label.round}. " + "It holds. " * 250 + "Ends."

    held = Held(loops=3, synthesis=narrow, position=position, defence=position)
    result = await held.hold(Options.model_validate({"form": "prose", "ledger": "off", "delta": "similarity"}))
    assert result["final_response"] == "All in all: yes."
    told = [event for event in held.events if isinstance(event, Shortened)]
    assert {event.phase for event in told} == {"synthesis"} and "the model reads" in told[0].reason
    assert len(told) == 1 or not known
    whole, *_, cut = held.prompts("synthesis")
    assert len(cut) <= most < len(whole) and cut.count("left out, for the prompt was too long") >= 3
    assert set(re.findall(r"Begins \S+", cut)) == set(re.findall(r"Begins \S+", whole)), "no text is gone"
    assert "<<<ORIGINAL USER QUERY" in cut and "Migrate?" in cut
    first, last = (block(cut, f"LOOP {loop} POSITION") for loop in (1, 3))
    assert sum(map(len, first)) <= sum(map(len, last))


async def test_a_question_that_no_cut_makes_fit_is_refused_as_before() -> None:
    def refusing(request: Request) -> str:
        fault = ContextExceeded("too long")
        fault.asked, fault.window = 100_000, 10
        raise fault

    with pytest.raises(LlmRuntimeError, match="too long"):
        await Held(loops=2, synthesis=refusing).hold()


async def test_markers_that_a_model_copies_do_not_pile_up_in_its_drafts() -> None:
    def copying(request: Request) -> str:
        drafts = [message.content for message in request.messages if "CURRENT DRAFT" in message.content]
        marked = re.findall(r"<<<CURRENT DRAFT [0-9a-f]{16}>>>", "".join(drafts))
        return "\n".join([*marked, "The draft itself.", *(one.replace("<<<", "<<<END ") for one in marked)])

    held = Held(grammar="sequential", loops=3, draft=copying)
    await held.hold(Options.model_validate({"form": "prose", "ledger": "off", "delta": "similarity"}))
    drafts = [event.text for event in held.events if isinstance(event, SeatAnswered)]
    assert len(drafts) > 3 and set(drafts) == {"The draft itself."}


def block(prompt: str, name: str) -> list[str]:
    return [inner for _, inner in re.findall(rf"<<<{name}[^<>\n]*? ([0-9a-f]{{16}})>>>\n(.*?)\n<<<END", prompt, re.S)]


def test_markers_that_nothing_closes_cost_no_more_than_their_length() -> None:
    """Half a million characters of them took half a minute of every call."""
    code = "0" * 16
    real = f"<<<POSITION of 1:pragmatist {code}>>>\nIt holds.\n<<<END POSITION of 1:pragmatist {code}>>>"
    fakes = "".join(f"<<<FAKE {number:016x}>>>\n" for number in range(20_000))
    closed = "".join(f"\n<<<END FAKE {number:016x}>>>" for number in range(20_000))
    for text in (fakes + real, closed + "\n" + fakes + real):
        assert [block.material for block in fenced(text)] == ["It holds."]
