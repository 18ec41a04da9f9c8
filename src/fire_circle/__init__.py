"""Fire Circle: several models judge a prompt alone, talk about what they saw, and keep the highest alarm of all.

    from fire_circle import MultiNeutrosophicPrompt, fire_circle_evaluate

    result = await fire_circle_evaluate(MultiNeutrosophicPrompt(user="As we agreed in turn 3 ..."), generate=model)
    result.consensus.falsehood, result.patterns

How well that works is not assumed but measured: see :mod:`fire_circle.measurement` and :mod:`fire_circle.study`.
"""

from fire_circle.case import Case
from fire_circle.circle import fire_circle_evaluate, fire_circle_with_session_memory
from fire_circle.classification import (
    classify_pattern,
    classify_pattern_heuristic,
    classify_pattern_llm,
    classify_patterns_llm,
    pattern_types,
)
from fire_circle.config import CircleConfigurationError, CircleSize, EvaluationConfig, FailureMode, FireCircleConfig
from fire_circle.empty_chair import calculate_empty_chair_influence, get_empty_chair_model
from fire_circle.layers import MultiNeutrosophicPrompt, PromptError
from fire_circle.patterns import extract_patterns
from fire_circle.prompt_guard import PromptGuard, ReciprocityMetrics
from fire_circle.reasoningbank import ReasoningBank, store_fire_circle_patterns
from fire_circle.results import (
    DialogueRound,
    EvaluationError,
    FailureRecord,
    FireCircleResult,
    NeutrosophicEvaluation,
    PartialResult,
    PatternClaim,
    PatternObservation,
    PatternType,
    RoundMetrics,
)
from fire_circle.session import SessionMemory
from fire_circle.transcripts import TranscriptRecord

__all__ = [
    "Case", "CircleConfigurationError", "CircleSize", "DialogueRound", "EvaluationConfig", "EvaluationError",
    "FailureMode", "FailureRecord", "FireCircleConfig", "FireCircleResult", "MultiNeutrosophicPrompt",
    "NeutrosophicEvaluation", "PartialResult", "PatternClaim", "PatternObservation", "PatternType",
    "PromptError", "PromptGuard", "ReasoningBank", "ReciprocityMetrics", "RoundMetrics", "SessionMemory",
    "TranscriptRecord", "calculate_empty_chair_influence", "classify_pattern", "classify_pattern_heuristic",
    "classify_pattern_llm", "classify_patterns_llm", "extract_patterns", "fire_circle_evaluate",
    "fire_circle_with_session_memory", "get_empty_chair_model", "pattern_types", "store_fire_circle_patterns",
]  # fmt: skip
