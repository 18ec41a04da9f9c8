"""A finding with what running showed of it, described once: screen, report, comment and SARIF tell the same."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from assay.protocols.crucible.report.state import words
from assay.report.clean import fenced
from assay.report.columns import columns
from assay.report.story import Block, Details, Note, Prose, Quote, Section, Table, Voice
from assay.report.units import count_noun, in_words
from crucible.proving.change import ChangedFile, hunks, lines_of
from crucible.proving.prover import Proven
from crucible.proving.records import Proof, Witness
from crucible.records import SEVERITIES
from crucible.reviewing import CheckedFinding
from llm_runtime.structs import Struct

ProofStanding: TypeAlias = Literal["proved", "argued", "changed", "stood before", "asserted", "opinion"]
_STANDINGS: tuple[ProofStanding, ...] = ("proved", "argued", "changed", "stood before", "asserted", "opinion")
RANKS = dict(zip(_STANDINGS, (100, 60, 40, 10, 10, 10), strict=True))
"""How much a finding weighs, 0 to 100, by what running showed of it; what weighs most is shown first."""
OPINION = "No test shows what follows: it is opinion."
_ACCENTS: dict[ProofStanding, str] = {"proved": "red", "argued": "c1", "changed": "c1", "opinion": ""}


Mended: TypeAlias = tuple[str, int, int, str]
"""A file, its first and last line, 1-based, and what the fix of a witness has in place of these lines."""


class Shown(Struct):
    """One finding as every surface shows it.

    Args:
        finding: as the review has it.
        proven: what its prover came to; ``None`` where nobody tried.
        texts: the changed files as they are after the change, by name.
    """

    finding: CheckedFinding
    proven: Proven | None = None
    texts: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def proof(self) -> Proof | None:
        """What running says of it."""
        return self.proven and self.proven.proof

    @property
    def standing(self) -> ProofStanding:
        """What it is by that."""
        verdict = self.proof.verdict if self.proof else "not reproduced"
        return "opinion" if verdict == "not reproduced" else verdict

    @property
    def witness(self) -> Witness | None:
        """What shows it."""
        return self.proof.witness if self.proof and self.standing != "opinion" else None

    @property
    def head(self) -> str:
        """Its heading."""
        badge = "" if self.standing == "opinion" else f"{self.standing.capitalize()} · "
        return f"{badge}{self.finding.severity}: {self.finding.found.title}"

    @property
    def line(self) -> str:
        """What running showed, in a sentence or two; empty where nobody tried."""
        if self.proven is None:
            return ""
        proof, said = self.proven.proof, words("proofs")
        ran = said.get(f"since {proof.origin}", "")
        # What was seen may be long; its first line says what refused it.
        refused = proof.refused.partition("\n")[0][:300].rstrip(".") or "no test failed"
        how = said.get(f"it {getattr(proof.failure, 'kind', '')}", "")
        read, told = said[str(self.proven.read_alike)], how + (proof.told or "the change says nothing of it")
        text = said.get(proof.verdict) or said.get(proof.oracle, "{ran}.")
        return text.format(ran=ran, refused=refused, words=proof.words, read=read, told=told)

    @property
    def mended(self) -> list[Mended]:
        """What the fix does, by whole lines; empty where a piece of it stands nowhere."""
        found: list[Mended] = []
        for hunk in (hunk for one in self._mended for hunk in hunks(one)):
            before, at = lines_of(self.texts[hunk.path]), hunk.base_first - 1
            last, lines = at + len(hunk.base_lines), hunk.head_lines
            if not (hunk.base_lines and lines):  # nothing stands in place of lines, or they of nothing: with one beside
                beside = before[at - 1] if at else "".join(before[last : last + 1])
                at, last, lines = (at - 1, last, [beside, *lines]) if at else (at, last + 1, [*lines, beside])
            found.append((hunk.path, at + 1, last, "".join(lines).removesuffix("\n").removesuffix("\r")))
        return found

    @property
    def _mended(self) -> list[ChangedFile]:
        made: dict[str, str] = {}
        for one in self.witness.fix if self.witness else ():
            count, made[one.path] = one.on(made.get(one.path, self.texts.get(one.path, "")))
            if count != 1:
                return []
        return [ChangedFile(path=path, was=path, base=self.texts[path], head=text) for path, text in made.items()]

    def suggestion(self, touched: set[tuple[str, int]]) -> str:
        """Return what a forge can commit in place of lines; empty where the fix is larger, or they are not shown.

        Args:
            touched: file and line of each line that the change shows.
        """
        lines = {(path, line) for path, first, last, _ in self.mended for line in range(first, last + 1)}
        return self.mended[0][3] if len(self.mended) == 1 and lines <= touched else ""

    @property
    def patch(self) -> str:
        """The fix as a patch."""
        lines: list[str] = []
        for one in self._mended:
            before, after = lines_of(one.base or ""), lines_of(one.head or "")
            lines += difflib.unified_diff(before, after, f"a/{one.path}", f"b/{one.path}")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)

    @property
    def evidence(self) -> tuple[Details, ...]:
        """What was looked at, the test and the fix, folded away; nothing where nothing ran."""
        if self.proof is None or not self.proof.checks:
            return ()
        proof = self.proof
        rows = tuple((one.check, "yes" if one.ok else "no", one.what, str(one.runs or "")) for one in proof.checks)
        blocks: list[Block] = [Table(columns("check", "holds", "what was seen", numbers=("runs",)), rows)]
        blocks += self._shown(proof, self.witness) if self.witness else []
        took = f"{count_noun(proof.runs, 'run')} in a box, {proof.seconds:.0f} s"
        return (Details(f"{'Evidence' if self.witness else 'What was tried'}: {took}", tuple(blocks)),)

    def _shown(self, proof: Proof, witness: Witness) -> list[Block]:
        """Return the promise that is broken, the test that shows it, and the fix."""
        patch = self.patch
        texts = [("The test, which is offered and not committed", fenced(witness.test))]
        texts += [("A fix with which it passes, right or not", fenced(patch, "diff"))] if patch else []
        promise = [Quote(witness.quote, by=proof.words)] if proof.words else []
        return [*promise, *(Prose(f"{name}:\n\n{text}") for name, text in texts)]

    @property
    def prose(self) -> list[str]:
        """What its finder says of it, which is opinion."""
        found, whose = self.finding.found, "The review says, and this is opinion: " if self.witness else ""
        parts = (found.fails and whose + found.fails, found.mend and f"What to do: {found.mend}")
        return [part for part in parts if part]

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All that stands below its heading."""
        quote = self.finding.found.quote
        told: list[Block] = [Quote(quote)] if quote and not self.witness else []
        told += [Prose(self.witness.says, lead=True)] if self.witness else []
        told += [Note(self.line, "good" if self.standing == "proved" else "info")] if self.line else []
        return (*told, *map(Prose, self.prose), *self.evidence)


def shown(listed: Iterable[CheckedFinding], proven: Mapping[int, Proven], texts: Mapping[str, str]) -> list[Shown]:
    """Return findings with what running showed of them, by number: what is proved first, then by how grave."""
    ones = (Shown(one, proven.get(number), texts) for number, one in enumerate(listed, 1))
    return sorted(ones, key=lambda one: (_STANDINGS.index(one.standing), SEVERITIES.index(one.finding.severity)))


def headline(ones: Sequence[Shown]) -> str:
    """Return how many findings are proved, and what the others are."""
    counts = Counter(one.standing for one in ones)
    rest = in_words([f"{counts[word]} {word}" for word in _STANDINGS[1:] if counts[word]])
    return f"{counts['proved']} of {count_noun(len(ones), 'finding')} proved" + (f"; {rest}" if rest else "")


def findings_section(ones: Sequence[Shown]) -> Section:
    """Return them as the first section of a report: what tests show, and below a line what is opinion."""
    blocks: list[Block] = [Voice(o.head, o.blocks, _ACCENTS.get(o.standing, "c4"), o.finding.place) for o in ones]
    held = sum(one.standing != "opinion" for one in ones)
    return Section("Findings", (*blocks[:held], *([Note(OPINION)] if blocks[held:] else []), *blocks[held:]))


def failing(ones: Sequence[Shown], fail_on: str) -> list[Shown]:
    """Return the findings on which a build fails.

    Args:
        fail_on: a severity; ``proved``, or ``changed`` for what is proved, argued or changed; or both, as
            ``proved:major``.
    """
    word, _, grave = fail_on.rpartition(":") if fail_on.rpartition(":")[2] in SEVERITIES else (fail_on, "", "minor")
    wanted = {"proved": ("proved",), "changed": ("proved", "argued", "changed")}.get(word, RANKS)
    worst = [one for one in SEVERITIES if SEVERITIES.index(one) <= [*SEVERITIES].index(grave)]
    return [one for one in ones if one.standing in wanted and one.finding.severity in worst]
