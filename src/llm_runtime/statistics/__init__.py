"""Small closed forms that the protocols measure with: plain Python, no numpy, nothing drawn that is not injected.

Every function says its formula and its source. What cannot be computed is refused with a :class:`ValueError`
of one line, or is None where its type says so; it is never a number that merely looks right.
"""

from llm_runtime.statistics.agreement import interval_disagreement, krippendorff_alpha, nominal_disagreement
from llm_runtime.statistics.attempts import pass_at_k, pass_hat_k
from llm_runtime.statistics.betting import BernoulliEProcess
from llm_runtime.statistics.bootstrap import paired_bootstrap, percentile_interval
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import (
    PairedCounts,
    mcnemar,
    newcombe,
    newcombe_paired,
    wilson,
)
from llm_runtime.statistics.significance import benjamini_hochberg, holm
from llm_runtime.statistics.thresholds import (
    DetectionRates,
    detection_rates,
    roc_area,
    threshold_at_fpr,
    tpr_at_fpr,
)

__all__ = [
    "BernoulliEProcess",
    "DetectionRates",
    "Interval",
    "PairedCounts",
    "benjamini_hochberg",
    "detection_rates",
    "holm",
    "interval_disagreement",
    "krippendorff_alpha",
    "mcnemar",
    "newcombe",
    "newcombe_paired",
    "nominal_disagreement",
    "paired_bootstrap",
    "pass_at_k",
    "pass_hat_k",
    "percentile_interval",
    "roc_area",
    "threshold_at_fpr",
    "tpr_at_fpr",
    "wilson",
]
