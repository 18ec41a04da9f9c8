"""Whether a finding is so: a test that fails on a change and passes without it, judged by running, in a box."""

from crucible.proving.change import ProvenChange, read_change, read_state
from crucible.proving.judging import judge, predict
from crucible.proving.records import BoxRequest, Ran, Run
from crucible.proving.states import States

__all__ = ["BoxRequest", "ProvenChange", "Ran", "Run", "States", "judge", "predict", "read_change", "read_state"]
