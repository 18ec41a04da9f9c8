"""The report of a batch: what its jobs came to, by configuration, with intervals; what failed; what it took."""

from assay.batch.report.fold import BatchFold
from assay.batch.report.story import batch_story

__all__ = ["BatchFold", "batch_story"]
