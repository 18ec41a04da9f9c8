"""What a turn is told of the debate: five tiers, one view a persona, within its budget.

Blocks of messages are JSON, one object a line: a peer's text cannot pretend to be another line.
"""

from __future__ import annotations

from collections.abc import Sequence

from crux.anonymity import Mask
from crux.budget import clip, fitting
from crux.requests import entry_line
from crux.results import CruxMessage, DialogueMessage, RoomPhase, Said
from crux.transcript import TOPIC, Evidence, SeatedTranscript
from llm_runtime.prompts import Fence
from llm_runtime.tokens import estimate_tokens

_SUMMARY_TOKENS = 70
_CLAIM_TOKENS = 35
_CARD_TOKENS = 60
_MESSAGE_TOKENS = 160
_TOPIC_TOKENS = 120
#: A position in the 80 words that are asked for is never cut; this bounds whoever does not keep to them.
_POSITION_TOKENS = 120
_EVIDENCE_TOKENS = 200
#: Verbatim exchanges in a room, each a turn of both sides.
LAST_EXCHANGES = 4


class View:
    """One persona's view of a transcript, as fenced blocks.

    Args:
        transcript: what was said.
        viewer: the persona.
        fence: the call's.
    """

    def __init__(self, transcript: SeatedTranscript, viewer: str, fence: Fence) -> None:
        self._transcript = transcript
        self._viewer = viewer
        self._mask = transcript.panel.mask(viewer)
        self._fence = fence

    def topic(self) -> str:
        """Return tier 1."""
        return self._fence("DEBATE QUESTION", clip(self._mask.others(self._transcript.topic), _TOPIC_TOKENS))

    def earlier_rounds(self) -> list[str]:
        """Return tier 2: a summary of each completed round."""
        summaries = self._transcript.summaries
        told = (aspect for aspect in self._transcript.aspects if aspect.id in summaries)
        lines = [entry_line(aspect=one.label, summary=self._seen(summaries[one.id], _SUMMARY_TOKENS)) for one in told]
        return [self._fence("EARLIER ROUNDS", "\n".join(lines))] if lines else []

    def own_position(self) -> list[str]:
        """Return where the viewer stands on the topic, as stated before: whoever leaves it has to say so."""
        stance = self._transcript.last_stance(self._viewer, TOPIC)
        if stance is None:
            return []
        position = self._seen(stance.position, _POSITION_TOKENS)
        line = entry_line(answer=stance.stance, position=position, stated_in=stance.message)
        return [self._fence("YOUR POSITION SO FAR", line)]

    def open_claims(self) -> list[str]:
        """Return tier 3: what is contested, without what a room has resolved."""
        transcript = self._transcript
        resolved = {card.crux_room_id for card in transcript.cards if card.resolved}
        in_rooms = [candidate for candidate in transcript.candidates if candidate.queued]
        settled = {one.claim for place, one in enumerate(in_rooms, start=1) if f"room-{place}" in resolved}
        claims = [one.claim for one in transcript.candidates if one.clashes and one.claim not in settled]
        lines = [f"- {self._seen(claim, _CLAIM_TOKENS)}" for claim in list(dict.fromkeys(claims))[-6:]]
        return [self._fence("OPEN DISAGREEMENTS", "\n".join(lines))] if lines else []

    def cards(self) -> list[str]:
        """Return tier 4: what the crux rooms found."""
        found = ((self._seen(card.question, _CARD_TOKENS), card) for card in self._transcript.cards[-6:])
        lines = [entry_line(crux=crux, type=card.disagreement_type, resolved=card.resolved) for crux, card in found]
        return [self._fence("CRUXES FOUND", "\n".join(lines))] if lines else []

    def messages(self, shown: Sequence[Said], tokens: int, name: str) -> tuple[str, list[str]]:
        """Return tier 5: messages verbatim, the newest that fit, oldest first; and the ids of those shown."""
        newest = list(reversed({message.id: message for message in shown}.values()))
        # Older ones are not even written: a long debate has many, and each turn would mask them all.
        lines = fitting(map(self._line, newest), tokens)[::-1]
        ids = [message.id for message in newest[: len(lines)]][::-1]
        return (self._fence(name, "\n".join(lines)) if ids else ""), ids

    def about_viewer(self) -> list[Said]:
        """Return the viewer's own claims and the attacks on them: what others said next in a clash or a room."""
        messages: list[Said] = []
        for clash in (False, True):
            source: Sequence[Said] = self._transcript.room_messages if clash else self._transcript.messages
            for before, after in zip([None, *source], source, strict=False):
                answered = before is not None and before.persona == self._viewer and after.phase in _SPOKEN_TO
                if after.persona == self._viewer or answered:
                    messages.append(after)
        return sorted(messages, key=lambda message: int(message.id[1:]) if message.id[1:].isdigit() else 0)

    def panel_context(self, shown: Sequence[Said], tokens: int) -> tuple[list[str], list[str]]:
        """Return all tiers for a turn on the panel, within ``tokens``; the messages get what the rest leaves."""
        blocks = [self.topic(), *self.own_position(), *self.earlier_rounds(), *self.open_claims(), *self.cards()]
        while len(blocks) > 1 and sum(map(estimate_tokens, blocks)) > tokens * 2 // 3:
            blocks.pop()
        left = tokens - sum(estimate_tokens(block) + 1 for block in blocks) - 24
        block, ids = self.messages(shown, left, "WHAT WAS SAID")
        return [*blocks, *([block] if block else [])], ids

    def room_context(
        self, question: str, other: str, shown: Sequence[CruxMessage], evidence: Sequence[Evidence],
        question_id: str, tokens: int,
    ) -> tuple[list[str], list[str]]:  # fmt: skip
        """Return a room's window: topic, question, both positions, evidence, the last four exchanges."""
        blocks = [self.topic(), self._fence("QUESTION OF THIS ROOM", self._seen(question, 80))]
        positions: list[str] = []
        for name in (self._viewer, other):
            stance = self._transcript.last_stance(name, question_id)
            # A position is its owner's own account of itself; the other side sees the locked first statement only.
            first = next((s for s in shown if s.persona == name and s.phase == "position"), None)
            if name == self._viewer and stance:
                text = f"{stance.stance}: {stance.position}"
            elif first is not None:
                text = first.text
            else:
                continue
            positions.append(entry_line(speaker=self._mask.speaker(name), position=self._seen(text, _POSITION_TOKENS)))
        if positions:
            blocks.append(self._fence("POSITIONS", "\n".join(positions)))
        if evidence:
            lines = [entry_line(id=one.id, evidence=self._seen(one.text, _MESSAGE_TOKENS)) for one in evidence]
            blocks.append(self._fence("EVIDENCE", "\n".join(fitting(lines, _EVIDENCE_TOKENS))))
        left = tokens - sum(estimate_tokens(block) + 1 for block in blocks) - 24
        spoken = [message for message in shown if message.persona][-2 * LAST_EXCHANGES :]
        if spoken:
            block, ids = self.messages(spoken, left, "WHAT WAS SAID")
        else:
            # The first to speak in a room know what led to it: their clash, which both have heard.
            block, ids = self.messages(self._clash(other), left, "THE CLASH BEFORE THIS ROOM")
        return [*blocks, *([block] if block else [])], [*ids, *(one.id for one in evidence)]

    def _clash(self, other: str) -> list[DialogueMessage]:
        """Return the last words of the viewer and of another to each other on the panel, each one's last two."""
        clash = [message for message in self._transcript.messages if message.phase == "clash"]
        return [message for message in clash if message.persona in (self._viewer, other)][-4:]

    def _line(self, message: Said) -> str:
        speaker = self._mask.speaker(message.persona)
        return entry_line(id=message.id, speaker=speaker, said=self._seen(message.text, _MESSAGE_TOKENS))

    def _seen(self, text: str, tokens: int) -> str:
        return clip(self._mask(text), tokens)


_SPOKEN_TO: frozenset[RoomPhase | str] = frozenset({"clash", "exchange", "convergence"})


def judged(messages: Sequence[Said], mask: Mask, tokens: int) -> str:
    """Return messages as a judge sees them: letters for names, JSON lines, the newest that fit."""
    told = ((one, mask.speaker(one.persona) if one.persona else "evidence") for one in reversed(messages))
    lines = (entry_line(id=one.id, speaker=who, said=clip(mask(one.text), 2 * _MESSAGE_TOKENS)) for one, who in told)
    return "\n".join(reversed(fitting(lines, tokens)))
