"""A study: a circle over a whole data set, streamed, resumable, with its cost known before it starts.

One line of JSON is written for each finished item. Killed at any point, a study goes on where it was: finished
items are read from the results, calls of unfinished ones from the journal beside them (``FILE.calls``).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from fire_circle.case import Case
from fire_circle.circle import fire_circle_evaluate
from fire_circle.config import FireCircleConfig
from fire_circle.results import EvaluationError, FireCircleResult, Spend
from fire_circle.rounds import most_rounds
from fire_circle.rows import Columns, DataError, Item, read_items
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StoreBusy, StoreDamaged
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.pricing import PriceTable
from llm_runtime.rewording import instead
from llm_runtime.routing import Target, parse_model
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimate_tokens
from llm_runtime.wrappers.journal import CallJournal, append_from_whole_line, whole_lines, write_line

LineT = TypeVar("LineT", bound=Model)
_SCAFFOLD_TOKENS = 2_500
_COMPLAINT_TOKENS = 100


class StudyLine(Model):
    """One finished item: a verdict, or why there is none.

    Args:
        item: digest of input and configuration.
        index: 0-based place in the data set.
        name: what the row is called.
        label: whether it is a violation; ``None`` where the data set does not say.
        status: ``failed`` items have no score, and count as neither flagged nor passed.
        result: the circle's result, without the prompts it sent.
        error: one line.
        spend: what the item took.
    """

    item: str
    index: int
    name: str
    label: bool | None
    status: Literal["judged", "failed"]
    result: FireCircleResult | None = None
    error: str = ""
    spend: Spend = Spend()


class StudyPlan(Model):
    """What a study would take, without asking anybody.

    Args:
        items: different items of the data set.
        duplicates: rows whose input came before; they are judged once.
        finished: items that have a result already.
        calls: at most, for the rest, each answer asked for a second time.
        input_tokens, output_tokens: at most, a token being four characters.
        cost: at most, in micro-dollars; ``None`` where a price or a token limit is missing.
        unpriced: models without a known price.
        priced_on: the date of the price table.
    """

    items: int
    duplicates: int
    finished: int
    calls: int
    input_tokens: int
    output_tokens: int | None
    cost: int | None
    unpriced: tuple[str, ...]
    priced_on: str


class Study(Struct):
    """A data set, a circle, and where the results go.

    Args:
        data: the data set.
        columns: which column holds what.
        config: the circle.
        out: the results, JSONL; the journal stands beside it.
        seed: 0 to 2^53-1, drawn once and kept for whoever resumes the study; each item's own seed derives from it.
    """

    data: Path
    columns: Columns
    config: FireCircleConfig
    out: Path
    seed: int

    @property
    def journal(self) -> Path:
        """The file of single answers."""
        return self.out.with_name(self.out.name + ".calls")

    def settings(self) -> dict[str, Any]:
        """Return all that makes an answer another one."""
        return {**self.config.model_dump(mode="json"), "seed": self.seed}

    def items(self) -> Iterator[tuple[str, Item]]:
        """Yield each different item with its id, in order.

        Raises:
            DataError: a row does not fit, or equal rows have different labels.
        """
        settings, seen = self.settings(), dict[bytes, bool | None]()
        for item in read_items(self.data, self.columns, self.config.base_config.max_layer_chars):
            digest = item.digest(settings)
            key = bytes.fromhex(digest)
            if key not in seen:
                seen[key] = item.label
                yield digest, item
            elif seen[key] is not item.label:
                raise DataError(f"{self.data.name}: row {item.index + 1} repeats an earlier row with another label")

    def finished(self) -> set[str]:
        """Return ids of the items that have a result.

        Raises:
            StoreDamaged: the file of results is something else.
        """
        return {line["item"] for line in _raw_lines(self.out)}


def plan_study(study: Study, prices: PriceTable) -> StudyPlan:
    """Plan a study: every row is read and checked, and nobody is asked.

    Raises:
        DataError: a row does not fit.
    """
    done, items, finished = study.finished(), 0, 0
    calls = asked = answered = cost = 0
    limit = study.config.base_config.max_tokens
    asked_at = {model: parse_model(model) or Target("", model) for model in _models(study.config)}
    price_by_model = {model: prices.find(at.provider, at.model) for model, at in asked_at.items()}
    for item_id, item in study.items():
        items += 1
        if item_id in done:
            finished += 1
            continue
        for model, tokens in _questions(item, study.config):
            # Each question may be asked a second time, with the first answer and a complaint behind it.
            sent, received = 2 * tokens + (limit or 0) + _COMPLAINT_TOKENS, 2 * (limit or 0)
            price = price_by_model[model]
            calls, asked, answered = calls + 2, asked + sent, answered + received
            cost += price.cost(sent, received) if price else 0
    rows = sum(1 for _ in read_items(study.data, study.columns, study.config.base_config.max_layer_chars))
    unpriced = tuple(sorted(model for model, price in price_by_model.items() if price is None))
    counts = {"items": items, "duplicates": rows - items, "finished": finished, "calls": calls, "input_tokens": asked}
    tokens, total = (None, None) if limit is None else (answered, None if unpriced else cost)
    return StudyPlan(**counts, output_tokens=tokens, cost=total, unpriced=unpriced, priced_on=prices.dated)


def _models(config: FireCircleConfig) -> tuple[str, ...]:
    classifier = (config.classifier_model,) if config.pattern_classification == "llm" else ()
    return (*config.models, *classifier, *((config.guard.model,) if config.guard else ()))


def _questions(item: Item, config: FireCircleConfig) -> Iterator[tuple[str, int]]:
    """Yield every question of an item's circles: the model, and an upper estimate of the tokens it is sent."""
    texts = [layer.text for layer in item.prompt.layers] + [record.text for record in item.history]
    material = sum(map(estimate_tokens, texts)) + _SCAFFOLD_TOKENS
    peers = len(config.models) * (config.base_config.max_tokens or 0)
    for _ in Case(item.prompt).judged(config.per_layer):
        if config.guard is not None:
            yield config.guard.model, material
        for number in range(1, most_rounds(config) + 1):
            for model in config.models:
                yield model, material + 2 * peers * (number - 1)
            if number > 1 and config.pattern_classification == "llm":
                yield config.classifier_model, _SCAFFOLD_TOKENS + peers


async def run_study(
    study: Study, generate: Generate, *, concurrency: int = 4,
    on_line: Callable[[Item, StudyLine], None] = lambda item, line: None, again: str = "",
) -> None:  # fmt: skip
    """Judge every item that has no result yet.

    All rows are checked before the first call. At most ``concurrency`` items are under way and in memory at a time.

    Args:
        on_line: told of each item as it is finished.
        again: who asks again for items that had no verdict, with all calls paid again: once for each name, so that
            the same attempt goes on after a stop. Empty where nobody does.

    Raises:
        DataError: a row does not fit; nothing was spent.
        BudgetExceeded, DeadlineExceeded: raised after what is under way has ended; run again to go on.
        StoreBusy: another study writes these results.
        StoreError: the results cannot be written.
    """
    if concurrency < 1:
        raise ConfigurationError(f"concurrency must be 1 or more, got {concurrency}")
    for _ in study.items():
        pass

    async def judged(item_id: str, item: Item, asked: Generate) -> StudyLine:
        seed = item_seed(study.seed, item_id)
        try:
            result = await fire_circle_evaluate(item.prompt, study.config, item.session(), generate=asked, seed=seed)
        except EvaluationError as fault:
            spent = fault.partial.spend if fault.partial else Spend()
            return _line(item_id, item, status="failed", error=str(fault), spend=spent)
        return _line(item_id, item, status="judged", result=_slim(result), spend=result.spend)

    with _sole_writer(study.out):
        done = study.finished()
        with closing(CallJournal(study.journal, done.__contains__)) as journal:
            if again and again not in journal.dropped:
                done -= _drop_failed(study.out, journal)
                journal.drop(again)
            left = ((item_id, item) for item_id, item in study.items() if item_id not in done)
            await work_off(study.out, left, generate, judged, on_line, journal, concurrency)


async def work_off(
    out: Path, items: Iterator[tuple[str, Item]], generate: Generate,
    work: Callable[[str, Item, Generate], Awaitable[LineT]], on_line: Callable[[Item, LineT], None],
    journal: CallJournal, concurrency: int,
) -> None:  # fmt: skip
    """Work on so many items at a time, and write a line of ``out`` for each.

    Raises:
        LlmRuntimeError: what concerns the whole study, after the items under way have had their chance.
    """
    faults: list[LlmRuntimeError] = []
    with closing(append_from_whole_line(out)) as stream:

        async def one_after_another() -> None:
            for item_id, item in items:
                try:
                    line = await work(item_id, item, journal.over(generate, item_id))
                    write_line(stream, line.model_dump(mode="json"), sync=True)
                    journal.forget(item_id)
                    on_line(item, line)
                except LlmRuntimeError as fault:
                    faults.append(fault)
                if faults:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(one_after_another())
    if faults:
        raise faults[0]


def item_seed(seed: int, item_id: str) -> int:
    """Return the seed of one item, 0 to 2^53-1: fences differ from item to item, and a replay builds the same."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{item_id}".encode()).digest()[:8], "big") >> 11


def read_study(out: Path) -> Iterator[StudyLine]:
    """Yield the finished items of a study, in the order they finished.

    Raises:
        StoreDamaged: a line is not one.
    """
    for line in _raw_lines(out):
        with instead(StoreDamaged(f"{out.name}: item {line['item']} is not a line of a study"), ValueError):
            yield StudyLine.model_validate(line)


def _line(item_id: str, item: Item, **fields: Any) -> StudyLine:
    return StudyLine(item=item_id, index=item.index, name=item.name, label=item.label, **fields)


def _slim(result: FireCircleResult) -> FireCircleResult:
    rounds = tuple(dialogue_round.model_copy(update={"prompt_used": {}}) for dialogue_round in result.dialogue_history)
    layers = {name: _slim(layer) for name, layer in result.layer_results.items()}
    return result.model_copy(update={"dialogue_history": rounds, "layer_results": layers})


def _raw_lines(path: Path) -> Iterator[dict[str, Any]]:
    return whole_lines(path, "a line of a study", lambda line: (line["item"], line["status"]) and line)


def _drop_failed(path: Path, journal: CallJournal) -> set[str]:
    """Take failed items out of the results; return their ids. The journal forgets them first, in case of a kill."""
    failed = {line["item"] for line in _raw_lines(path) if line["status"] == "failed"}
    for item in sorted(failed):
        journal.drop(item)
    draft = path.with_name(path.name + ".kept")
    with draft.open("w", encoding="utf-8", newline="\n") as stream:
        for line in _raw_lines(path):
            if line["item"] not in failed:
                write_line(stream, line, sync=False)
        os.fsync(stream.fileno())
    draft.replace(path)
    return failed


@contextmanager
def _sole_writer(out: Path) -> Generator[None]:
    from filelock import FileLock, Timeout

    out.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(out.with_name(out.name + ".lock"))
    with instead(StoreBusy(f"another study writes {out.name}; wait for it, or choose another file"), Timeout):
        held = lock.acquire(timeout=0)
    with held:
        yield
