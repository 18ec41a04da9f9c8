"""The report of a batch: what its jobs came to, by configuration, with intervals; what failed; what it took."""

from assay.report.batch.fold import BatchFold
from assay.report.batch.story import batch_story

__all__ = ["BatchFold", "batch_story"]
