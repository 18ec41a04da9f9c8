"""The number of what debates ask, and what each number changed.

2: sentences are found by stems and shown with their text and date; a judge weighs concessions, sources and like
   cards; a supposition leaves both answers open, and has a placebo. What found passages for number 1 is gone.
3: who weighs a concession is told what the speaker has on record.
4: nothing is asked otherwise; a judge of consistency that no debate had is gone.
5: a claim is worded with its sign, by its author's latest stance.
6: each stance is read a second time, blind; a judge's batches carry pairs whose answers are known; quotations are
   whole sentences; what says the same bears the same. More than two authors are compared by what divides them. The
   card of a living person says only what a text of theirs bears.
7: a quotation is found whatever way its letters are written, with signs that are not seen, and in scripts whose signs
   are words when it is short; quotation marks of every language tell whose words a sentence is. Names in Chinese,
   Japanese and Korean are masked between other letters.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("crux", number=7, packages=("crux", "assay.protocols.crux"), unnumbered=3, recalled=2)
