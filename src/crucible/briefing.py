"""What every call of a council begins with: the attachments and what an earlier council found; then the task."""

from __future__ import annotations

from crucible.material import Dossier, message
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct


class Briefing(Struct):
    """What a council is given to read.

    Args:
        query: the question as it is worked on.
        material: the attachments.
        earlier: what an earlier council was asked and answered; empty where none was.
        form: a form of the answer that the user chose; empty leaves it to triage.
        seed: the run's; fences are drawn from it.
        challenge: a sentence of the earlier answer that the user doubts.
        attacked: what a critic says of it.
        settles: whether the council ends as soon as no objection is open.
    """

    query: str
    material: Dossier
    earlier: str
    form: str
    seed: int
    challenge: str = ""
    attacked: str = ""
    settles: bool = False

    @property
    def evidence(self) -> str:
        """How claims name what they rest on."""
        return load_prompt("crucible", "evidence_attached" if self.material else "evidence_none").render()

    def turn(self, seat: str, task: str, prompt: str = "material") -> Message:
        """Return a task behind what has to be read first, the same at each call of a seat."""
        parts: list[str] = []
        if self.material:
            parts.append(message(self.material, self.seed, seat, prompt))
        if self.earlier:
            fence = Fence(self.seed, CallLabel("crucible", "earlier", seat))
            parts.append(load_prompt("crucible", "earlier").render(earlier=fence("EARLIER COUNCIL", self.earlier)))
        if self.attacked:
            fence = Fence(self.seed, CallLabel("crucible", "challenge", seat))
            said = fence("OBJECTIONS", self.attacked)
            parts.append(
                load_prompt("crucible", "challenge").render(sentence=fence("SENTENCE", self.challenge), objections=said)
            )
        return Message("user", "\n\n".join([*parts, task]), tuple(filter(None, (one.seen for one in self.material))))
