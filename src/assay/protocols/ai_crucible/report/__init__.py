"""Trials as reports: the workshop's logs and ledger, read into one records, told as a story."""

from assay.protocols.ai_crucible.report.story import trials_story
from assay.protocols.ai_crucible.report.trial_records import TrialRecords, read_trials

__all__ = ["TrialRecords", "read_trials", "trials_story"]
