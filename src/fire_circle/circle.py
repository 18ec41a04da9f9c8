"""A prompt before a circle of models: its least trusted layer, or each (specification, "API Specification")."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import sha256

from fire_circle.baseline import JudgedLayer
from fire_circle.case import Case
from fire_circle.config import FireCircleConfig
from fire_circle.empty_chair import charge
from fire_circle.layer_circle import Clock, LayerCircle
from fire_circle.layers import BY_TRUST, Layer, LayerName, MultiNeutrosophicPrompt
from fire_circle.results import FireCircleResult, Spend
from fire_circle.seats import seat_circle
from fire_circle.session import SessionMemory
from fire_circle.transcript import Transcript
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import NoModelError
from llm_runtime.events import Emit, silent, tee
from llm_runtime.messages import Generate
from llm_runtime.wrappers.caching import cached

#: The author of a prompt must not be able to compute the nonces of its fences.
_SECRET = secrets.token_hex(16)


def no_clock() -> float:
    """Return 0.0: the clock of a run whose results must not depend on when it ran."""
    return 0.0


def drawn_seed() -> int:
    """Draw a seed that nobody can foresee, 0 to 2^53-1."""
    return secrets.randbelow(2**53)


async def fire_circle_evaluate(
    prompt: MultiNeutrosophicPrompt, config: FireCircleConfig | None = None,
    session_memory: SessionMemory | None = None, *, generate: Generate | None = None, emit: Emit = silent,
    seed: int | None = None, clock: Clock = no_clock, similar: str = "",
) -> FireCircleResult:  # fmt: skip
    """Evaluate a prompt by a circle of models (specification, section 8 "API Specification").

    One circle judges the least trusted layer, with the others as context, and another one the material, where there
    is any; ``config.per_layer`` holds one for each layer. The result is that of the layer with the highest F (ties:
    the least trusted), with every layer's own beside it.

    Args:
        prompt: the prompt under test.
        config: the circle; the default one where left out.
        session_memory: the conversation it belongs to; without it the judges are told that the turn is unknown.
        generate: the model function.
        emit: told of everything that happens.
        seed: 0 to 2^53-1; the nonces of the fences derive from it. Drawn where left out, and kept in the result:
            a constant would let the author of a prompt compute them.
        clock: seconds since the Unix epoch, for the rounds' timestamps.
        similar: what is remembered of other prompts; see :meth:`~fire_circle.reasoningbank.ReasoningBank.similar`.

    Raises:
        NoModelError: ``generate`` is missing.
        PromptError: the prompt cannot be judged.
        EvaluationError: too few seats are left, or one failed in STRICT mode; ``partial`` holds what there is.
        BudgetExceeded, DeadlineExceeded: the run's means are used up; nothing is lost that a recording has.
    """
    config = config or FireCircleConfig()
    if generate is None:
        raise NoModelError(
            "a circle needs a model function: pass generate=..., e.g. from llm_runtime.gateway or a script"
        )
    if config.cache_enabled:
        generate = cached(generate)
        # The same for the same circle over the same prompt, so that its calls are equal.
        session = session_memory.to_dict() if session_memory else None
        data = [_SECRET, prompt.model_dump(), config.model_dump(mode="json"), session]
        seed = int.from_bytes(sha256(canonical_json(data)).digest()[:6], "big") if seed is None else seed
    seed = drawn_seed() if seed is None else seed
    prompt.check(config.base_config.max_layer_chars)
    case = Case(prompt, session_memory, similar)
    layers = case.judged(config.per_layer)
    chair_role = charge(config.empty_chair_prompt_path)
    results: list[FireCircleResult] = []
    for layer in layers:
        suffix = layer.name if len(layers) > 1 else ""
        transcript = Transcript(layer.name, seed, seat_circle(config.models, suffix))
        circle = LayerCircle(
            subject=JudgedLayer(case, layer, config.base_config, seed),
            config=config,
            generate=generate,
            emit=tee(emit, transcript.apply),
            clock=clock,
            suffix=suffix,
            charge=chair_role,
            transcript=transcript,
        )
        results.append(await circle.run())
    return results[0] if len(results) == 1 else _worst(layers, results)


async def fire_circle_with_session_memory(
    prompt: MultiNeutrosophicPrompt, session: SessionMemory, config: FireCircleConfig | None = None, *,
    generate: Generate | None = None, emit: Emit = silent, seed: int | None = None,
) -> FireCircleResult:  # fmt: skip
    """Run :func:`fire_circle_evaluate` with a session, and record the turn in it afterwards (FC23).

    The turn's trust is 1 - F and its balance T - F of the consensus. A circle that fails leaves the session as it
    was. Raises as :func:`fire_circle_evaluate` does.
    """
    result = await fire_circle_evaluate(prompt, config, session, generate=generate, emit=emit, seed=seed)
    verdict = result.consensus
    trust, balance = 1 - verdict.falsehood, verdict.truth - verdict.falsehood
    session.record(trust=trust, balance=balance, text=prompt.least_trusted.text)
    return result


def _worst(layers: Sequence[Layer], results: Sequence[FireCircleResult]) -> FireCircleResult:
    names: list[LayerName] = [layer.name for layer in layers]
    by_layer = dict(zip(names, results, strict=True))
    worst = max(results, key=lambda r: (r.consensus.falsehood, BY_TRUST.index(r.layer)))
    spend = sum((result.spend for result in results), Spend())
    partial = any(result.partial for result in results)
    silenced = tuple(dict.fromkeys(model for result in results for model in result.silenced))
    update = {"layer_results": by_layer, "spend": spend, "partial": partial, "silenced": silenced}
    return worst.model_copy(update=update)
