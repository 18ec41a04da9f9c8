"""How well it works: every measure of the specification, each by a formula that stands in its docstring.

Three of the specification's measures are for people to judge. For these there is a blind sheet
(:mod:`crux.measurement.blind`) and, beside it, a figure that a program can compute; the figure is not the
judgement, and says so. What the specification leaves out (wins, argument scores, consensus) is left out here.
"""

from crux.measurement.blind import BlindSheet, blind_sheet, score_sheet
from crux.measurement.card_quality import card_quality, recurrence, type_accuracy
from crux.measurement.consistency import judged_consistency
from crux.measurement.debate_quality import debate_quality, sycophancy
from crux.measurement.gold_replies import GoldReplies, gold_replies
from crux.measurement.held_out import HeldOut, held_out_fidelity
from crux.measurement.judged_pairs import JudgeFigures, judge_figures
from crux.measurement.persona_quality import persona_quality
from crux.measurement.report import Measures, measure
from crux.measurement.share import Share

__all__ = [
    "BlindSheet",
    "GoldReplies",
    "HeldOut",
    "JudgeFigures",
    "Measures",
    "Share",
    "blind_sheet",
    "card_quality",
    "debate_quality",
    "gold_replies",
    "held_out_fidelity",
    "judge_figures",
    "judged_consistency",
    "measure",
    "persona_quality",
    "recurrence",
    "score_sheet",
    "sycophancy",
    "type_accuracy",
]
