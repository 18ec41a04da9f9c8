"""Whether a finding is so: a test that fails on a change and passes without it, judged by running, in a box."""

from crucible.proving.change import Change, read_change, read_state
from crucible.proving.judging import judge, predict
from crucible.proving.records import Ask, Ran, Run
from crucible.proving.states import States

__all__ = ["Ask", "Change", "Ran", "Run", "States", "judge", "predict", "read_change", "read_state"]
