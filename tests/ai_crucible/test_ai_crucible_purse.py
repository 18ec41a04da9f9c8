"""One purse for all attempts: never overspent, patient while calls are in flight, honest after a kill."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from ai_crucible.purse import Purse
from llm_runtime.errors import BudgetExceeded, ConfigurationError

CENT = 10_000


async def call(purse: Purse, takes: int = CENT, most: int = 4 * CENT) -> str:
    async def answer() -> tuple[str, int | None]:
        await asyncio.sleep(0)
        return "done", takes

    return await purse.hold(most, "a call", answer)


async def test_racers_wait_for_each_other_and_never_overspend() -> None:
    purse = Purse(0.20)
    results = await asyncio.gather(*(call(purse) for _ in range(32)), return_exceptions=True)
    made = results.count("done")
    # 20 cents, a cent a call, and four held for each: the last one must leave room for its whole hold.
    assert made == 17 and purse.spent == pytest.approx(0.17)
    assert all(isinstance(result, BudgetExceeded) for result in results if result != "done")
    assert purse.closed and purse.budget.held.cost == 0
    with pytest.raises(BudgetExceeded, match=r"\$0\.2 do not suffice"):
        purse.need_open()


class Refusal(Exception):
    """What a vendor's package raises where the provider refuses."""

    status_code = 429


async def test_a_call_that_breaks_off_or_whose_cost_nobody_knows_is_unknown_and_a_refused_one_free() -> None:
    purse = Purse(1.0)

    async def fails() -> tuple[str, int | None]:
        raise OSError("the connection broke")

    async def refused() -> tuple[str, int | None]:
        raise Refusal

    async def silent() -> tuple[str, int | None]:
        return "done", None

    with pytest.raises(OSError, match="broke"):
        await purse.hold(5 * CENT, "a call", fails)
    with pytest.raises(Refusal):
        await purse.hold(7 * CENT, "a call", refused)
    await purse.hold(3 * CENT, "a call", silent)
    assert (purse.spent, purse.budget.unknown.cost) == (0, 8 * CENT)
    with pytest.raises(BudgetExceeded, match=r"up to \$0\.0800 unknown"):
        await purse.hold(93 * CENT, "a call", silent)


async def test_what_was_held_when_the_process_died_is_unknown(tmp_path: Path) -> None:
    place = tmp_path / "purses/t.json"
    purse = Purse(1.0, place)
    await call(purse)
    seen: list[dict[str, int]] = []

    async def looks() -> tuple[None, int | None]:
        seen.append(json.loads(place.read_text()))
        return None, CENT

    await purse.hold(30 * CENT, "a call", looks)
    assert seen == [{"spent": CENT, "held": 30 * CENT}]
    assert Purse(1.0, place).spent == pytest.approx(0.02)
    place.write_text(json.dumps(seen[0]))
    again = Purse(1.0, place)
    assert (again.spent, again.budget.unknown.cost) == (pytest.approx(0.01), 30 * CENT)
    # What the logs tell of an earlier sitting without a cap counts too.
    assert Purse(1.0, place, spent=0.5).spent == pytest.approx(0.5)


def test_an_account_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "t.json"
    place.write_text("nonsense")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Purse(1.0, place)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_any_inspect_model_is_paid_from_it(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="Inspect AI is not installed; make test installs it")
    from inspect_ai.model import ModelCost, ModelInfo, ModelOutput, ModelUsage, get_model, set_model_info

    from ai_crucible.inspect_bridge import inspect_generate
    from ai_crucible.purse import PURSE
    from ai_crucible.types import Line

    bounds: list[int | None] = []

    def answer(input: object, tools: object, choice: object, config: object) -> ModelOutput:
        bounds.append(getattr(config, "max_tokens", None))
        output = ModelOutput.from_content("m", "words")
        output.usage = ModelUsage(input_tokens=1000, output_tokens=1000, total_tokens=2000)
        return output

    set_model_info(
        "mockllm/priced", ModelInfo(cost=ModelCost(input=10, output=20, input_cache_write=10, input_cache_read=1))
    )
    ask = inspect_generate(get_model("mockllm/priced", custom_outputs=answer, memoize=False))
    purse = Purse(0.40)

    async def spend() -> int:
        token, made = PURSE.set(purse), 0
        try:
            while True:
                await ask([Line("user", "go")], (), "solver")
                made += 1
        except BudgetExceeded:
            return made
        finally:
            PURSE.reset(token)

    # Three cents a call; 16,384 tokens of answer are held, nearly 33 cents.
    assert asyncio.run(spend()) == 3
    assert purse.spent == pytest.approx(0.09) and set(bounds) == {16_384}
