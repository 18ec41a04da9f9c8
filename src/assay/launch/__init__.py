"""The one place that opens runs: start, resume, fork, replay, stop. Their terms live in the log."""

from assay.launch.checks import check_terms, require_replayable
from assay.launch.execution import Followers, Outcome, PerRun, price_of
from assay.launch.launcher import NOBODY, Launcher, Pace, Replayed, Running
from assay.launch.logs import first_event, result_of
from assay.launch.words import CallWords, Words

__all__ = [
    "NOBODY", "CallWords", "Followers", "Launcher", "Outcome", "Pace", "PerRun", "Replayed", "Running", "Words",
    "check_terms", "first_event", "price_of", "require_replayable", "result_of",
]  # fmt: skip
