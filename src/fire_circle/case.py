"""What every judge is shown in every round: the turn, the other layers, the layer to judge (FC8)."""

from __future__ import annotations

from dataclasses import dataclass

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.layers import Layer, MultiNeutrosophicPrompt
from fire_circle.session import SessionMemory
from llm_runtime.prompts import Fence, load_prompt

_HISTORY_CHARS = 40_000


@dataclass(frozen=True, slots=True)
class Case:
    """One layer before one circle.

    Args:
        prompt: the prompt under test, whole.
        layer: the layer that is judged.
        session: the conversation it belongs to, where it is known.
        similar: what circles agreed on in other prompts with such words, as JSON; empty where that is not known.
    """

    prompt: MultiNeutrosophicPrompt
    layer: Layer
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

    def show(self, fence: Fence) -> str:
        """Return the case as text; everything that is not ours stands behind ``fence``."""
        others = [layer for layer in self.prompt.layers if layer.name != self.layer.name]
        context = "\n\n".join(fence(f"{layer.name.upper()} LAYER", layer.text) for layer in others)
        about = f"\n\n{load_prompt('fire_circle', 'answer').text}" if self.prompt.answer.strip() else ""
        return load_prompt("fire_circle", "case").render(
            turn=self._turn(fence) + about,
            context=context or "(There are none.)",
            layer_name=self.layer.name,
            layer=fence(f"{self.layer.name.upper()} LAYER, TO JUDGE", self.layer.text),
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
        return f"{stated} What was said in them:\n\n{fence('EARLIER TURNS', self.earlier)}"

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is not ours in it: the layers and the earlier turns."""
        return (*(layer.text for layer in self.prompt.layers), self.earlier, self.similar)

    def recall(self, fence: Fence) -> str:
        """Return what is remembered of other prompts, for the rounds that look for patterns."""
        if not self.similar:
            return ""
        similar = load_prompt("fire_circle", "similar").render(cases=fence("SIMILAR CASES", self.similar))
        return f"\n\n{similar}"

    @property
    def earlier(self) -> str:
        """What was said before, as the judges are shown it; empty where it is not known."""
        turns = enumerate(self.session.turns if self.session else (), start=1)
        history = "\n\n".join(f"[turn {number}]\n{turn.text}" for number, turn in turns if turn.text)
        if len(history) > _HISTORY_CHARS:
            return "[what came before is left out]\n" + history[-_HISTORY_CHARS:]
        return history
