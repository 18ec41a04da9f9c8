"""Comparing in the application: the same tasks by a council, by samples of one model, by one answer."""

from assay.protocol import read_protocol
from llm_runtime.behaviour import Behaviour

#: What the methods ask; a council among them asks as councils do.
#: 2: samples are drawn in waves, not planned by the first. 3: one thinks in writing before the answer.
#: 4: a council is that of `assay ask`; who does not say an answer has no vote. 5: choices are shown, answers read
#: by what they mean, programs by their tests, open ones by a judge. 6: fractions in words, signs of comparison, dates
#: that are denied; what is expected is no refusal. 7: two letters choose none; signs before a number, what
#: is done to it and what denies an answer are read. 8: units that nobody knows have to be the same; times of day, days
#: without a year, members of lists that hold a comma are read. 9: operators, brackets of intervals and signs are read,
#: degrees of another scale and more units; intervals of few tasks are by Student's t.
BEHAVIOUR = Behaviour("compare", number=9, packages=(__name__,), unnumbered=3)

PROTOCOL = read_protocol(__name__)
