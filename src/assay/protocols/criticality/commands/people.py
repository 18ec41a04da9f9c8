"""Who answers at `criticality`: arrow keys at a terminal, plain lines elsewhere, or one answer set beforehand."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, TextIO

from assay.protocols.criticality.report.words import FEATURES, INTERVIEW
from criticality.human import Approval, Nobody, Reply, Resolution

if TYPE_CHECKING:
    from assay.console.live import LiveDisplay
    from criticality.artifacts import Artifacts, InterviewAnswer
    from criticality.machine.states import HumanQuery
    from criticality.spec.spec import Spec


class PresetHuman(Nobody):
    """One answer from the command line; after it, nobody is there."""

    def __init__(self, *, approval: Approval | None = None, resolution: Resolution | None = None) -> None:
        self._approval, self._resolution = approval, resolution

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        approval, self._approval = self._approval, None
        return approval

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        resolution, self._resolution = self._resolution, None
        return resolution


#: What is asked besides, and where it goes, by what becomes of a proposal.
_WANTED = {"revise": ("feedback", "What should change?"), "conditional": ("conditions", "On which condition?")}
_YES, _NO = "Yes, continue", "No, let me correct something"


def greeting(known: Artifacts) -> str:
    """Write what an interview begins with, or what is understood so far."""
    from criticality.ignition import catalogue

    how = [
        "Answer in your own words. /delegate NOTES leaves the rest to the architect.",
        "Ctrl-C stops here, and everything said so far is kept.",
    ]
    answers = [answer for answer in known.answers if answer.answer]
    if not answers:
        return "\n".join([f"\nINTERVIEW: {known.name}", "", *how, ""])
    answered = {answer.question for answer in known.answers}
    open_phases = [q.phase for q in catalogue() if q.id not in answered]
    reached = open_phases[0] if open_phases else answers[-1].phase
    lines = [f"\nRESUMING INTERVIEW: {known.name}", ""]
    lines += [f"  ✓ {title}" for phase, title in INTERVIEW.items() if phase not in open_phases and phase != reached]
    lines += [f"  › {INTERVIEW[reached]}", "", "Here is what I understand so far:"]
    lines += [f"  • {_brief(answer)}" for answer in answers]
    return "\n".join([*lines, "", *how, ""])


def _brief(answer: InterviewAnswer) -> str:
    """Write an answer in one line, with what it answers."""
    subject = answer.question.replace("_", " ").replace("feature:", "")
    text = " ".join(answer.answer.split())
    return f"{subject}: {text if len(text) <= 200 else text[:199] + '…'}"


class AtTerminal:
    """A person at the keyboard. ``/delegate NOTES`` leaves the rest to the architect at any question.

    Args:
        source: read line by line where it is no terminal; its end means that nobody is there.
        screen: where questions go.
        known: what the project has come to, shown again before the first question.
        display: leaves the terminal to the person while they answer.
    """

    def __init__(
        self, source: TextIO, screen: TextIO, known: Artifacts | None = None, display: LiveDisplay | None = None
    ) -> None:
        self._source, self._screen, self._known = source, screen, known
        self._pause = display.paused if display else nullcontext

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        """Ask a question of the interview; before the first one, whether what is understood so far is right."""
        with self._pause():
            known, self._known = self._known, None
            if known is not None:
                self._show(greeting(known))
                correction = await self._confirmed(known)
                if correction != "yes":
                    return correction
            if question.startswith("delegation:"):
                return await self._delegation(text, options)
            line = await self._choose(text, options) if options else await self._line(text)
            if line is None:
                return None
            if line.startswith("/delegate"):
                return Reply(text=line.removeprefix("/delegate").strip(), delegate=True)
            return Reply(text=line)

    async def _confirmed(self, known: Artifacts) -> Reply | Literal["yes"] | None:
        """Whether what is understood so far is still right; else a correction, after which it is asked again."""
        answers = {_brief(answer): answer for answer in known.answers if answer.answer}
        if not answers:
            return "yes"
        chosen = await self._choose("Is this still correct?", (_YES, _NO))
        if chosen != _NO:
            return None if chosen is None else "yes"
        which = await self._choose("Which one?", tuple(answers))
        old = answers.get(which or "")
        if old is None:
            return None if which is None else await self._confirmed(known)
        options = tuple(FEATURES) if old.question.startswith("feature:") else ()
        text = await (self._choose(old.text, options) if options else self._line(old.text))
        if not text:
            return None if text is None else await self._confirmed(known)
        new = dataclasses.replace(old, answer=text)
        known.answers = [new if answer is old else answer for answer in known.answers]
        self._known = known
        return Reply(text=text, corrects=old.question)

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        """Ask what becomes of a proposal."""
        from criticality.canonical import toml

        with self._pause():
            self._show(f"\nProposal {version}:\n\n{toml(proposal.model_dump(mode='json'))}")
            chosen = await self._choose("What becomes of it?", ("approve", "revise", "reject", "conditional"))
            field, wanted = _WANTED.get(chosen or "", ("", ""))
            said = await self._line(wanted) if wanted else ""
            if chosen is None or said is None:
                return None
            more = {field: [said] if field == "conditions" else said} if field else {}
            return Approval.model_validate({"decision": chosen if field or chosen == "reject" else "approve", **more})

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        """Ask for a way out of a block."""
        with self._pause():
            self._show(f"\nBlocking Query: {query.id}\n{query.question}")
            labels = tuple(option.label for option in query.options)
            chosen = await self._choose("Choose a way out", labels)
            if chosen is None or chosen not in labels:
                return None
            return Resolution(option=query.options[labels.index(chosen)].id)

    async def _delegation(self, text: str, options: tuple[str, ...]) -> Reply | None:
        chosen = await self._choose(text, options)
        if chosen is None or chosen == options[0]:
            return None if chosen is None else Reply(text="continue")
        notes = await self._line("Your notes") if chosen == options[2] else ""
        return None if notes is None else Reply(text=notes, delegate=True)

    async def _choose(self, text: str, options: tuple[str, ...]) -> str | None:
        """One of the options: arrow keys and numbers at a terminal, a number or a word in a line."""
        if self._source.isatty():
            import questionary

            prompt: Any = questionary.select(text, choices=list(options), use_shortcuts=len(options) < 36)
            return await prompt.ask_async()
        shown = "\n".join(f"  {number}. {option}" for number, option in enumerate(options, start=1))
        line = await self._line(f"{text}\n{shown}")
        if line is None:
            return None
        if line.isdigit() and 1 <= int(line) <= len(options):
            return options[int(line) - 1]
        return line or options[0]

    async def _line(self, text: str) -> str | None:
        if self._source.isatty():
            import questionary

            prompt: Any = questionary.text(text)
            return await prompt.ask_async()
        self._show(text)
        line = await asyncio.to_thread(self._source.readline, 20_000)
        return line.strip() if line else None

    def _show(self, text: str) -> None:
        from assay.report.clean import clean

        print(clean(text), file=self._screen, flush=True)
