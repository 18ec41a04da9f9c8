"""The number of what councils ask, and what each number changed.

2: triage names lines of models, not releases.
3: objections are numbered and quote what they strike; a clerk writes a ledger, seats have letters.
4: a council of records stands beside the form in prose, which is as it was.
5: schemas want an answer to each objection and nothing that is not asked for; quotations that stand nowhere are
dropped; an answer that repeats its instruction is asked for again, and so are words of findings that stand nowhere.
6: who refuses in plain words is asked again, and then another.
7: records are read as models often write them: claims by id or as bare texts, a number for how sure they are.
8: words for what is sure, conceded or refuted may be of any language; who breaks off, or writes an object for an
answer, is asked again; whether a short text that rests on nothing answers, a reader says.
9: attachments may be pictures, and what is said of them is said then alone; texts are asked about as before.
10: a test whose own line fails, and does not before the change, shows a change; so does one whose quotation stands
nowhere. Short answers are of three vendors' models where nobody chose.
11: a crash or a hang alone proves nothing of a change, which may mean it; an example that now crashes does.
12: a parameter that is no longer read, and that an unchanged docstring describes, proves a regression;
what is annotated as anything is promised to take it, where a law is broken.
13: a parameter that comes to nothing but a name which nobody reads is not read; near tests of any command hold a fix.
14: a prover is told that a command of tests does not come to an end, and may keep an attribute of what a call answers;
the quickest near tests of files that a change leaves alone run before a witness; with a fix near tests are not traced.
15: laws of Python's own prove a regression, and its fix does as the base did for neighbours of the call's literals;
what node and go ran is known.
16: more laws, each stated by a test in one of the forms that are listed; an annotation may stand in a stub.
17: words that are whole lines stand at their place, however short the lines are, and whatever blank ones are between; a
claim that stands to the letter behind a label is not weakened; an answer is taken out of a record that cannot be read.
18: a witness may import the file that it tests by its name; a fix stands in lines that end as those of its file do;
a form feed ends no line, and what a mark of byte order begins is Python; a place may have the name of its file.
19: an example of a near test counts where this test fails, not another of its file; an attribute or a keyword of a
witness may have the name of a function of Python's.
"""

from __future__ import annotations

from llm_runtime.behaviour import Behaviour

BEHAVIOUR = Behaviour("crucible", number=19, packages=("crucible", "assay.protocols.crucible"), unnumbered=3)


def first_records() -> bool:
    """Tell whether the run under way is of number 4: numbers before it have no records."""
    return BEHAVIOUR.in_force == 4
