"""What a council does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crucible.purposes import form_of
from assay.protocols.crucible.task import Options, Task
from assay.report.standing import Leaning, RunVerdict
from assay.report.units import count_noun, in_words
from crucible.material import Attachment, check, fitted
from crucible.passages import ANSWER, Passage, locate
from llm_runtime.errors import ConfigurationError

_FOR_TRIAGE = 4_000
_WHO = {"system": "The application's instructions", "user": "The user", "assistant": "The assistant"}


def _counted(outcome: str) -> Any:
    def count(result: Mapping[str, Any]) -> int | None:
        ledger = result.get("ledger")
        return None if ledger is None else sum(one.get("outcome", "open") == outcome for one in ledger["objections"])

    return count


def _check_fit(task: Task, options: Options) -> None:
    if task.challenge and not task.follow:
        raise ConfigurationError("a sentence can be challenged where it stands in an answer; add --follow RUN")
    if options.route and (task.challenge or task.purpose == "review" or options.form == "prose"):
        raise ConfigurationError("--route is for questions to a council of records; leave it out here")


class CouncilHooks(Hooks[Task, Options]):
    """What a council does."""

    told = "assay.protocols.crucible.report:CouncilFold"
    measures = {
        "ended early": lambda result: result.get("early_exit"),
        "loops": lambda result: result.get("loops_executed"),
        "objections conceded": _counted("conceded"),
        "objections refuted": _counted("refuted"),
        "objections open": _counted("open"),
        "findings": lambda result: len(result.get("findings") or ()),
        "grave findings": lambda result: sum(one["severity"] != "minor" for one in result.get("findings") or ()),
    }
    follow, challenge, pictures = "follow", "challenge", "attach"
    older = ("query",)
    absent = {"delta": "judge", "ledger": "off", "letters": False}
    changed = {"form": ("crucible", 4, "prose")}

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Read what is to be attached; a diff in place of a question becomes an attachment.

        Raises:
            ConfigurationError: something cannot be read, or it is too much; nothing was asked.
        """
        _check_fit(task, options)
        # Some of it takes time to import, and most councils have no attachments.
        from crucible.attaching import attachment, is_diff, read_attachments

        # Programs send texts as they have them.
        dossier = [one if one.shown else attachment(one.name, one.picture or one.text) for one in task.dossier]
        left_out = list(task.left_out)
        query, purpose = task.query, task.purpose
        if is_diff(query):
            dossier.append(attachment("diff", query))
            purpose = "review" if purpose == "answer" else purpose
            query = form_of(purpose).question
        if task.material.strip():
            kind = "picture" if task.material.startswith("data:image/") else "text"
            dossier.append(attachment(f"attached {kind}", task.material))
        if task.attach:
            attachments, passed_over = read_attachments(task.attach)
            dossier += attachments
            left_out += passed_over
        if task.fit is not None:
            dossier = list(fitted(dossier, query, task.fit))
        check(dossier)
        read = {"query": query, "purpose": purpose, "dossier": dossier, "left_out": left_out}
        return task.model_copy(update={**read, "attach": [], "material": "", "fit": None}), options

    def take_up(self, task: Task, parent: Mapping[str, Any]) -> Task:
        """Return the task of a council that follows another: its question, answer, ledger, attachments first.

        Args:
            parent: the other's task, result and state.

        Raises:
            ConfigurationError: it has no answer, or both have more attachments than a council can read.
        """
        from crucible.following import earlier_council
        from crucible.ledger import Ledger

        result: Data = parent["result"] or {}
        asked: Data = parent["task"]
        said, question, ledger = result.get("final_response"), asked.get("query"), result.get("ledger")
        run, words = parent["run_id"], task.challenge
        if not (isinstance(said, str) and isinstance(question, str)):
            raise ConfigurationError(
                f"run {run} is no council with an answer; --follow takes a finished one: assay runs list"
            )
        if words and locate(words, Passage(ANSWER, said)) is None:
            raise ConfigurationError(f"the answer of run {run} does not say {words[:80]!r}; copy the words from it")
        # Those of the council before come first, so that their ids are what they were.
        before = () if task.without_attachments else asked.get("dossier", ())
        dossier = [*map(Attachment.model_validate, before), *task.dossier]
        check(dossier)
        kept = None if ledger is None else Ledger.model_validate(ledger)
        earlier = earlier_council(question, said, kept, asked.get("earlier") or "")
        return task.model_copy(update={"follow": run, "earlier": earlier, "dossier": dossier})

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return what became of the objections to the answer."""
        from crucible.ledger import Ledger, headline
        from crucible.records import SEVERITIES

        gist, loops = result["final_response"], result.get("loops_executed")
        leaning: Leaning
        if loops == 0:
            return RunVerdict("answered", f"by {result.get('route', 'one model')}", "no council sat", gist=gist)
        if result.get("attacked") is False:
            return RunVerdict("answered", "", "not attacked", "open", gist)
        early = "settled early " if result.get("early_exit") else ""
        after = f"{early}after {count_noun(loops, 'loop')}" if loops else ""
        if result.get("ledger") is None:
            return RunVerdict("answered", after, gist=gist)
        ledger = Ledger.model_validate(result["ledger"])
        if (found := result.get("findings")) is not None:
            graveness = Counter(one["severity"] for one in found)
            listed = in_words([f"{graveness[one]} {one}" for one in SEVERITIES if graveness[one]])
            leaning = "bad" if (graveness["critical"] + graveness["major"]) else "open" if found else "good"
            said = f"{count_noun(len(found), 'finding')}: {listed}" if found else "no findings"
            return RunVerdict(said, headline(ledger), leaning=leaning, gist=gist)
        leaning = "open" if ledger.still_open else "good" if ledger.objections else "neutral"
        return RunVerdict("answered", headline(ledger), leaning=leaning, gist=gist)

    def read_anew(self, options: Options) -> Collection[str]:
        """Return the ledger of a council in prose, which is read out of a clerk's entries."""
        return ("ledger",) if options.form == "prose" else ()

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Hold the council."""
        from assay.protocols.crucible.council import run

        return await run(task, options, context)

    def shows(self, task: Task) -> bool:
        """Return whether a picture is attached."""
        return any(one.picture for one in task.dossier)

    def panel(self, options: Options) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.models

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Return the last question of the user, with all else as an attachment that every seat reads."""
        at = max(number for number, (role, _) in enumerate(turns) if role == "user")
        others = (turn for number, turn in enumerate(turns) if number != at and turn[1].strip())
        rest = (f"{_WHO[role]}:\n{text}" for role, text in others)
        fields: Data = {"query": turns[at][1]}
        if earlier := "\n\n".join(rest):
            # Triage reads no attachment, and "What about the second one?" means nothing without it.
            fields["context"] = {"chat_before_the_question": earlier[-_FOR_TRIAGE:]}
            fields["dossier"] = [{"name": "the chat before the question", "text": earlier}]
        return fields

    def chat_answer(self, result: Mapping[str, Any]) -> str:
        """Return the council's answer."""
        return str(result.get("final_response", ""))
