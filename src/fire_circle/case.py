"""What is judged, whole: layers, the transcript before them, material; and how judges are shown it (FC8)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.layers import TEXTS, Layer, MultiNeutrosophicPrompt
from fire_circle.session import SessionMemory
from fire_circle.transcripts import Numbered, TranscriptRecord, fenced
from llm_runtime.canonical import canonical_json
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct

_HISTORY_CHARS = 40_000


class Case(Struct):
    """One case before a circle.

    Args:
        prompt: the prompt under test, whole, with the records of its turn.
        session: the conversation it belongs to, where it is known.
        similar: what circles agreed on in other prompts with such words, as JSON; empty where that is not known.
    """

    prompt: MultiNeutrosophicPrompt
    session: SessionMemory | None = None
    similar: str = ""

    @property
    def turn(self) -> int | None:
        """The 1-based turn; ``None`` without a session."""
        return self.session.turn if self.session else None

    @property
    def turn_short(self) -> str:
        """The turn, as part of a sentence."""
        return "the turn is unknown" if self.turn is None else f"turn={self.turn}"

    def judged(self, per_layer: bool = False) -> tuple[Layer, ...]:
        """Return the layers that a circle is held over: the least trusted, and material always where there is any.

        Raises:
            PromptError: there is no layer.
        """
        least = self.prompt.least_trusted
        return tuple(one for one in self.prompt.layers if per_layer or one.name in (least.name, "material"))

    def digest(self) -> str:
        """Return what decides a verdict on this case, in 64 hex digits of SHA-256: no id, no file, no label.

        A part that is not there is left out, so that parts of later releases move no digest.
        """
        session = self.session
        told: dict[str, object] = {name: getattr(self.prompt, name) for name in TEXTS}
        told |= {"records": [record.row for record in self.prompt.records], "similar": self.similar}
        if session is not None:
            told |= {"turn": session.turn, "before": [[one.row for one in turn.records] for turn in session.turns]}
            told["trust"] = [session.trust_ema, session.balance_ema, session.trajectory] if session.measured else []
        return sha256(canonical_json({name: value for name, value in told.items() if value})).hexdigest()

    def show(self, fence: Fence, judged: Layer) -> str:
        """Return the case as text; everything that is not ours stands behind fences."""
        others = [_fenced(layer, fence) for layer in self.prompt.layers if layer.name != judged.name]
        here = {layer.name for layer in self.prompt.layers}
        about = [load_prompt("fire_circle", name).text for name in ("answer", "material") if name in here]
        return load_prompt("fire_circle", "case").render(
            turn="\n\n".join([self._turn(fence), *about]),
            context="\n\n".join(others) or "(There are none.)",
            layer_name=judged.name,
            layer=_fenced(judged, fence, ", TO JUDGE"),
        )

    def _turn(self, fence: Fence) -> str:
        if self.session is None:
            return (
                "Which turn of the conversation this is, is unknown (turn=unknown): nothing is known of what came "
                "before, if anything did."
            )
        if self.session.turn == 1:
            return "This is turn 1 of the conversation (turn=1): nothing was said before it."
        before = self.session.turn - 1
        stated = (
            f"This is turn {self.session.turn} of the conversation (turn={self.session.turn}): {before} "
            f"{'turn' if before == 1 else 'turns'} came before it."
        )
        if self.session.measured or BEHAVIOUR.before(3):
            stated += (
                f" Trust so far {self.session.trust_ema:.2f} of 1, {self.session.trajectory}; "
                f"balance of give and take {self.session.balance_ema:+.2f}, from -1 to 1."
            )
        if not self.earlier:
            return stated
        if BEHAVIOUR.before(4):
            return f"{stated} What was said in them:\n\n{fence('EARLIER TURNS', self.earlier)}"
        kept = list(self._kept())
        left_out = len(self.session.records) - len(kept)
        told = [f"{stated} {load_prompt('fire_circle', 'earlier').text}"]
        told += [f"(The oldest {left_out} records are left out for their length.)"] if left_out else []
        return "\n\n".join([*told, *(fenced(f"TURN {turn}", [record], fence) for turn, record in kept)])

    def _kept(self) -> Iterator[tuple[int, Numbered]]:
        """Yield the latest earlier records with their turns, oldest first; a too long one is cut to its end."""
        turns = enumerate(self.session.turns if self.session else (), start=1)
        every = [(turn, one) for turn, said in turns for one in enumerate(said.records, start=1)]
        room, first = _HISTORY_CHARS, len(every)
        while first and room > 0:
            first -= 1
            room -= len(every[first][1][1].text)
        for place, (turn, (number, record)) in enumerate(every[first:]):
            if place == 0 and room < 0:
                record = record.model_copy(update={"text": "[cut] " + record.text[-room:]})
            yield turn, (number, record)

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is not ours in it, each text as judges are shown it."""
        plain = [layer.text for layer in self.prompt.layers if not layer.records]
        recorded = [record.text for layer in self.prompt.layers for _, record in layer.records]
        before = [self.earlier] if BEHAVIOUR.before(4) else [one.text for _, (_, one) in self._kept()]
        return (*plain, *recorded, *before, self.similar)

    def recall(self, fence: Fence) -> str:
        """Return what is remembered of other prompts, for the rounds that look for patterns."""
        if not self.similar:
            return ""
        similar = load_prompt("fire_circle", "similar").render(cases=fence("SIMILAR CASES", self.similar))
        return f"\n\n{similar}"

    @property
    def earlier(self) -> str:
        """What was said before, as one text for people; empty where it is not known.

        Until behaviour 4 judges were shown it like this, so that a text could look like another's words.
        """
        turns = enumerate(self.session.turns if self.session else (), start=1)
        said = [(number, [_line(one) for one in turn.records]) for number, turn in turns]
        history = "\n\n".join(f"[turn {number}]\n" + "\n".join(lines) for number, lines in said if any(lines))
        if len(history) > _HISTORY_CHARS:
            return "[what came before is left out]\n" + history[-_HISTORY_CHARS:]
        return history


def _line(record: TranscriptRecord) -> str:
    return record.text if record.role == "turn" else f"{record.role}: {record.text}"


def _fenced(layer: Layer, fence: Fence, more: str = "") -> str:
    name = f"{layer.name.upper()} LAYER{more}"
    if layer.records:
        return fenced(f"{name}, THIS TURN", layer.records, fence)
    return fence(name, layer.text, own=not BEHAVIOUR.before(4))
