"""A person in a build, asked through the model function: each question is a call to the seat ``person``.

So it is recorded, shown where the run is watched, and answered by whatever sits in the seat. The form of an answer
travels as a JSON schema with words for people in it, from which a page makes its buttons and fields.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from criticality.human import AnswersFile, Approval, Reply, Resolution
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Generate, Message, Request

if TYPE_CHECKING:
    from criticality import Answers
    from criticality.artifacts import Artifacts
    from criticality.machine.states import HumanQuery
    from criticality.spec.spec import Spec

PERSON = "person"
_DELEGATE = "/delegate"
_FEATURES = {
    "core": "core: the first version is nothing without it",
    "foundational": "foundational: later features rest on it",
    "bolt-on": "bolt-on: it can be added at any time",
}
_DECISIONS = (
    ("approve", "Approve it"),
    ("conditional", "Approve it on a condition"),
    ("revise", "Have it revised"),
    ("reject", "Start the interview over"),
)


class PersonInSeat:
    """A :class:`criticality.Human`: what the answers hold first, then whoever sits in the seat.

    Args:
        generate: the model function that reaches the seat.
        answers: those that were given beforehand.
        place: how many events the project has; makes two equal questions at different times two questions.
    """

    def __init__(self, generate: Generate, answers: Answers | None, *, place: Callable[[], int]) -> None:
        self._generate, self._answers, self._place = generate, answers, place
        self._file: AnswersFile | None = AnswersFile(answers) if answers else None

    def seen(self, artifacts: Artifacts) -> None:
        """What of the answers the project has used up already, by its journal."""
        if self._answers is None:
            return
        self._file = AnswersFile(
            self._answers,
            approvals_given=len(artifacts.approvals) + len(artifacts.feedback),
            contradictions_answered=sum(
                answer.question.startswith(("contradiction:", "resolution:")) for answer in artifacts.answers
            ),
            resolutions_given=sum(block.type == "criticality.human_responded" for block in artifacts.blocks),
        )

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        if self._file is not None and (found := await self._file.answer(question, text, options)) is not None:
            return found
        if question.startswith("delegation:"):
            return await self._delegation(text)
        if options:
            said = await self._ask("interview", text, _choice([(o, _FEATURES.get(o, o)) for o in options]))
            return Reply(text=said)
        hint = f"(To leave this and the rest to the architect, answer {_DELEGATE}, with notes behind it.)"
        said = await self._ask("interview", f"{text}\n\n{hint}", None)
        if said.startswith(_DELEGATE):
            return Reply(text=said.removeprefix(_DELEGATE).strip(), delegate=True)
        return Reply(text=said)

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        if self._file is not None and (found := await self._file.approve(proposal, version)) is not None:
            return found
        claims = "\n".join(f"- {claim.text}" for claim in proposal.claims.values())
        text = (
            f"Proposal {version}: {proposal.system.description}\n\nIt claims:\n{claims}\n\n"
            "The whole of it is on this page. What becomes of it?"
        )
        fields = {
            "decision": _choice(_DECISIONS),
            "feedback": {"type": "string", "title": "What should change, or the condition"},
        }
        given = _read(await self._ask("approval", text, _object(fields, "decision")), "decision")
        decision, feedback = given["decision"], given.get("feedback", "").strip()
        if decision in ("revise", "conditional") and not feedback:
            raise ConfigurationError("say what should change, or the condition; then resume the run")
        conditions = [feedback] if decision == "conditional" else []
        return Approval.model_validate({"decision": decision, "feedback": feedback, "conditions": conditions})

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        if self._file is not None and (found := await self._file.resolve(query)) is not None:
            return found
        fields = {
            "option": _choice([(option.id, option.label) for option in query.options]),
            "text": {"type": "string", "title": "What you want to add"},
        }
        given = _read(await self._ask("decision", query.question, _object(fields, "option")), "option")
        return Resolution(option=given["option"], text=given.get("text", ""))

    async def _delegation(self, text: str) -> Reply:
        fields = {
            "choice": _choice(
                [("continue", "Go on with questions"), ("delegate", "Leave the rest to the architect")]
            ),
            "notes": {"type": "string", "title": "Notes for the architect"},
        }
        given = _read(await self._ask("interview", text, _object(fields, "choice")), "choice")
        if given["choice"] == "delegate":
            return Reply(text=given.get("notes", "").strip(), delegate=True)
        return Reply(text="continue")

    async def _ask(self, phase: str, text: str, schema: dict[str, Any] | None) -> str:
        label = CallLabel("criticality", phase, f"0:{PERSON}", attempt=self._place() + 1)
        written = None if schema is None else canonical_json(schema).decode()
        request = Request("terminal:", (Message("user", text),), label, schema=written)
        return (await self._generate(request)).text.strip()


def _choice(options: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> dict[str, Any]:
    return {"oneOf": [{"const": value, "title": words} for value, words in options], "type": "string"}


def _object(fields: dict[str, dict[str, Any]], required: str) -> dict[str, Any]:
    return {"additionalProperties": False, "properties": fields, "required": [required], "type": "object"}


def _read(text: str, name: str) -> dict[str, str]:
    """The fields of an answer; a bare word is the choice alone, as it comes from a keyboard.

    Raises:
        ConfigurationError: it is neither.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {name: text.strip()}
    if not isinstance(data, dict) or not isinstance(data.get(name), str):  # pyright: ignore[reportUnknownMemberType]
        raise ConfigurationError(f"the answer must be an object with {name!r}, or the choice alone")
    return {str(key): str(value) for key, value in data.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
