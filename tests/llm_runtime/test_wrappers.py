"""Each wrapper adds one concern to a model function; none needs a network, a clock or luck."""

from __future__ import annotations

import asyncio
import dataclasses
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import (
    BudgetExceeded,
    CallError,
    CallTimeout,
    ConnectionCut,
    ConnectionFailed,
    ContextExceeded,
    DeadlineExceeded,
    EmptyReply,
    MalformedReply,
    ModelNotFound,
    ModelRetired,
    Moderated,
    Overloaded,
    PaymentRequired,
    QuotaExhausted,
    RateLimited,
    ReplyTruncated,
    RequestRefused,
    ServerFault,
    UnknownPrice,
)
from llm_runtime.events import BudgetMoved, CallRetried, Event, ModelSubstituted, parse_event
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.price import Price
from llm_runtime.pricing import PriceTable, priced
from llm_runtime.providers.scripted import scripted
from llm_runtime.wrappers.accounts import Account, Budget, Caps, Settlement, Spend, account_in, billed, spent_before
from llm_runtime.wrappers.answer_bounds import ANSWER_TOKENS, REASONING_TOKENS
from llm_runtime.wrappers.budgeted import budgeted
from llm_runtime.wrappers.fallback import fallback
from llm_runtime.wrappers.limiting import Limiter, Limits, limiting
from llm_runtime.wrappers.metered import Meter
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.retrying import Backoff, retrying
from llm_runtime.wrappers.timed import Deadline, timed

ASK = Request("m", (Message("user", "Is it so?"),), CallLabel("test", "ask"), max_tokens=100)


class FakeTime:
    """A clock that moves only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds
        await asyncio.sleep(0)


def answers(*script: str | Reply | BaseException) -> Generate:
    """A model that gives these answers in turn."""
    queue = list(script)
    return scripted(lambda request: queue.pop(0))


# retrying


async def test_retries_what_can_be_retried_with_exponential_backoff_and_full_jitter() -> None:
    time, events = FakeTime(), list[Event]()
    model = answers(ServerFault("down"), ConnectionCut("cut"), "yes")
    call = retrying(model, emit=events.append, sleep=time.sleep, random=lambda: 1.0, clock=time)
    reply = await call(ASK)
    assert (reply.text, reply.attempts, reply.latency_ms) == ("yes", 3, 1500)
    assert time.slept == [0.5, 1.0]
    assert [e.wait_ms for e in events if isinstance(e, CallRetried)] == [500, 1000]


async def test_honours_retry_after_and_gives_up_where_it_is_too_long() -> None:
    time = FakeTime()
    call = retrying(answers(RateLimited("slow", retry_after=7), "yes"), sleep=time.sleep, random=lambda: 0.0)
    assert (await call(ASK)).text == "yes"
    assert time.slept == [7.0]
    with pytest.raises(RateLimited):
        await retrying(answers(RateLimited("slow", retry_after=3600)), sleep=time.sleep)(ASK)


async def test_never_retries_what_cannot_help() -> None:
    with pytest.raises(RequestRefused):
        await retrying(answers(RequestRefused("no"), "yes"))(ASK)


async def test_raises_the_last_error_when_attempts_are_used_up() -> None:
    time = FakeTime()
    call = retrying(answers(ServerFault("1"), ServerFault("2")), Backoff(attempts=2), sleep=time.sleep)
    with pytest.raises(ServerFault, match="2"):
        await call(ASK)


# fallback


async def test_falls_back_to_the_next_model_and_says_so() -> None:
    events = list[Event]()
    request = dataclasses.replace(ASK, fallbacks=("n", "o"))

    def script(asked: Request) -> Reply | BaseException | str:
        return "from o" if asked.model == "o" else ModelNotFound("who?", model=asked.model)

    reply = await fallback(scripted(script), emit=events.append)(request)
    assert reply.text == "from o"
    assert [(e.asked, e.used) for e in events if isinstance(e, ModelSubstituted)] == [("m", "o")]


async def test_a_fault_of_the_request_is_not_taken_elsewhere() -> None:
    request = dataclasses.replace(ASK, fallbacks=("n",))
    for fault in (RequestRefused("no"), Moderated("flagged"), ReplyTruncated("cut")):
        with pytest.raises(type(fault)):
            await fallback(answers(fault, "never asked"))(request)


@pytest.mark.parametrize(
    "fault", [ContextExceeded("long"), QuotaExhausted("spent"), PaymentRequired("none"), ModelRetired("gone")]
)
async def test_what_another_model_may_mend_is_taken_there(fault: CallError) -> None:
    request = dataclasses.replace(ASK, fallbacks=("larger",))
    assert (await fallback(answers(fault, "from another"))(request)).text == "from another"


async def test_announces_a_model_that_the_provider_chose_itself() -> None:
    events = list[Event]()
    reply = Reply("x", "n", "openrouter", Usage(1, 1))
    await fallback(answers(reply), emit=events.append)(dataclasses.replace(ASK, fallbacks=("n",)))
    assert [e.used for e in events if isinstance(e, ModelSubstituted)] == ["n"]


# time limits


async def test_a_timeout_of_the_model_itself_is_not_ours() -> None:
    with pytest.raises(TimeoutError):
        await timed(answers(TimeoutError("its own")), Deadline(5))(ASK)


async def test_the_deadline_of_a_run_covers_all_its_calls() -> None:
    time = FakeTime()
    call = timed(answers("one", "never"), Deadline(10, time))
    assert (await call(ASK)).text == "one"
    time.now += 11
    with pytest.raises(DeadlineExceeded, match="10 s"):
        await call(ASK)


async def test_a_call_in_flight_is_ended_by_the_deadline_too() -> None:
    with pytest.raises(DeadlineExceeded):
        await timed(scripted(lambda _: _forever()), Deadline(0.01))(ASK)


async def test_nobody_sleeps_past_the_deadline() -> None:
    time = FakeTime()
    deadline = Deadline(10, time)
    await deadline.sleep(4, time.sleep)
    with pytest.raises(DeadlineExceeded):
        await deadline.sleep(60, time.sleep)
    assert time.slept == [4, 6]


async def _forever() -> str:
    await asyncio.Event().wait()
    return "never"


# limiting


async def test_requests_a_minute_are_spread_after_the_burst() -> None:
    time = FakeTime()
    limiter = Limiter(Limits(requests_per_minute=60), clock=time, sleep=time.sleep)
    call = limiting(scripted(lambda _: "ok"), limiter)
    for _ in range(63):
        await call(ASK)
    assert time.slept == [1.0, 1.0, 1.0]


async def test_tokens_a_minute_count_input_and_allowed_output() -> None:
    time = FakeTime()
    limiter = Limiter(Limits(tokens_per_minute=206), clock=time, sleep=time.sleep)
    call = limiting(scripted(lambda _: "ok"), limiter)
    for _ in range(3):  # 103 tokens each
        await call(ASK)
    assert time.slept == [30.0]


async def test_never_more_in_flight_than_allowed_and_in_the_order_of_arrival() -> None:
    running, most, order = 0, 0, list[str]()

    async def slow(request: Request) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        order.append(request.label.seat)
        await asyncio.sleep(0)
        running -= 1
        return "ok"

    call = limiting(scripted(slow), Limiter(Limits(in_flight=3)))
    requests = [dataclasses.replace(ASK, label=CallLabel("t", "p", str(i))) for i in range(20)]
    async with asyncio.TaskGroup() as group:
        for request in requests:
            group.create_task(call(request))  # type: ignore[arg-type]
    assert most == 3
    assert order == [str(i) for i in range(20)]


async def test_backs_off_after_a_429_and_recovers() -> None:
    time = FakeTime()
    limiter = Limiter(Limits(requests_per_minute=6000), clock=time, sleep=time.sleep)
    with pytest.raises(RateLimited):
        await limiting(answers(RateLimited("slow", retry_after=5)), limiter)(ASK)
    assert limiter.pace == 0.5
    call = limiting(scripted(lambda _: "ok"), limiter)
    await call(ASK)
    assert time.slept == [5.0]
    for _ in range(10):
        await call(ASK)
    assert limiter.pace == 1.0


async def test_a_burst_of_refusals_slows_down_once_and_closes_for_the_longest() -> None:
    time = FakeTime()
    limiter = Limiter(Limits(), clock=time, sleep=time.sleep)
    for seconds in (3, 5, 4):
        limiter.refused(retry_after=seconds)
    assert limiter.pace == 0.5
    await limiting(answers("ok"), limiter)(ASK)
    assert time.slept == [5.0]


async def test_a_cancelled_waiter_leaves_its_place_to_the_next() -> None:
    gate = asyncio.Event()

    async def held(_: Request) -> str:
        await gate.wait()
        return "ok"

    call = limiting(scripted(held), Limiter(Limits(in_flight=1)))
    first, second, third = (asyncio.ensure_future(call(ASK)) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    gate.set()
    assert (await first).text == (await third).text == "ok"
    assert second.cancelled()


def test_a_limiter_outlives_an_event_loop() -> None:
    call = limiting(scripted(lambda _: "ok"), Limiter(Limits(in_flight=1)))

    async def crowd() -> list[Reply]:
        return list(await asyncio.gather(*(call(ASK) for _ in range(5))))

    assert len(asyncio.run(crowd())) == len(asyncio.run(crowd())) == 5


# budgets

PRICE = Price(1.0, 10.0)
WORST = 3 + 100 * 10


def paid(cost: int) -> Reply:
    return Reply("ok", "m", "p", Usage(3, 10), cost=cost, cost_source="provider")


async def test_a_call_is_held_at_its_worst_and_settled_at_its_cost() -> None:
    budget = Budget(Caps(cost=2 * WORST))
    seen = list[int]()

    def script(_: Request) -> Reply:
        seen.append(budget.held.cost)
        return paid(103)

    await budgeted(scripted(script), budget, lambda _: PRICE)(ASK)
    assert seen == [WORST]
    assert budget.spent == Spend(103, 13, 1) and budget.held == Spend()


async def test_concurrent_calls_cannot_overrun_together() -> None:
    budget = Budget(Caps(cost=10 * WORST))
    sent = 0

    async def script(_: Request) -> Reply:
        nonlocal sent
        sent += 1
        await asyncio.sleep(0)
        return paid(WORST)

    call = budgeted(scripted(script), budget, lambda _: PRICE)
    results = await asyncio.gather(*(call(ASK) for _ in range(64)), return_exceptions=True)
    assert sent == 10 and budget.spent.cost == 10 * WORST
    assert sum(isinstance(r, BudgetExceeded) for r in results) == 54


def cut(kind: type[CallError], partial: Reply) -> CallError:
    fault = kind("the answer ended too early")
    fault.partial = partial
    return fault


GUESSED = Reply("half", "m", "p", Usage(3, 2, estimated=True), cost=23, cost_source="table")


@pytest.mark.parametrize(
    ("fault", "spent", "unknown"),
    [
        (ServerFault("down", status=500), 0, 0),
        (Overloaded("busy", status=529), 0, 0),
        (RateLimited("slow", status=429), 0, 0),
        (RequestRefused("no", status=400), 0, 0),
        (ConnectionFailed("nobody there"), 0, 0),
        (ServerFault("gave up waiting", status=504), 0, WORST),
        (ServerFault("gave up waiting", status=408), 0, WORST),
        (ServerFault("gave up waiting", status=524), 0, WORST),
        (CallTimeout("late"), 0, WORST),
        (ConnectionCut("cut"), 0, WORST),
        (MalformedReply("no answer", status=200), 0, WORST),
        (cut(ConnectionCut, GUESSED), 0, WORST),
        (cut(ReplyTruncated, paid(400)), 400, 0),
        (cut(EmptyReply, paid(37)), 37, 0),
        (cut(ServerFault, paid(5)), 5, 0),
        (asyncio.CancelledError(), 0, WORST),
        (RuntimeError("a bug"), 0, WORST),
    ],
)
async def test_a_failed_attempt_costs_what_was_reported_or_nothing_or_nobody_knows(
    fault: BaseException, spent: int, unknown: int
) -> None:
    def script(_: Request) -> Reply:
        raise fault

    budget = Budget(Caps(cost=10 * WORST))
    with pytest.raises(type(fault)):
        await budgeted(scripted(script), budget, lambda _: PRICE)(ASK)
    assert (budget.spent.cost, budget.unknown.cost, budget.held.cost) == (spent, unknown, 0)


async def test_a_cap_that_is_reached_says_what_there_was_and_what_became_of_it() -> None:
    call = budgeted(answers(paid(1)), Budget(Caps(calls=1)), lambda _: PRICE)
    await call(ASK)
    with pytest.raises(BudgetExceeded, match=r"^budget: .* may take 1 call; of 1 call: 1 call spent, 0 calls held$"):
        await call(ASK)


async def test_what_nobody_knows_counts_against_the_cap() -> None:
    budget = Budget(Caps(cost=2 * WORST))
    call = budgeted(answers(ConnectionCut("cut"), ConnectionCut("cut"), paid(1)), budget, lambda _: PRICE)
    for _ in range(2):
        with pytest.raises(ConnectionCut):
            await call(ASK)
    with pytest.raises(BudgetExceeded, match=r"\$0.0000 spent, .* up to \$0.0020 unknown"):
        await call(ASK)


async def test_without_a_cap_only_what_nobody_knows_is_spoken_of() -> None:
    events = list[Event]()
    budget = Budget(Caps(), emit=events.append)
    call = budgeted(answers(paid(7), ConnectionCut("cut"), paid(9)), budget, lambda _: PRICE)
    await call(ASK)
    with pytest.raises(ConnectionCut):
        await call(ASK)
    await call(ASK)
    (event,) = events
    assert isinstance(event, BudgetMoved) and (event.spent_cost, event.unknown_cost) == (7, WORST)
    assert spent_before(events).unknown.cost == WORST


async def test_a_reply_costs_what_all_its_attempts_took() -> None:
    budget = Budget(Caps(cost=10 * WORST))
    script = [cut(EmptyReply, paid(30)), ServerFault("down", status=500), paid(70)]
    call = billed(retrying(budgeted(answers(*script), budget, lambda _: PRICE), Backoff(base=0)))
    reply = await call(ASK)
    assert (reply.cost, reply.attempts, budget.spent.cost) == (100, 3, 100)


async def test_an_error_says_what_its_attempts_took_whatever_ended_them() -> None:
    budget = Budget(Caps(cost=WORST + 29))
    call = billed(retrying(budgeted(answers(cut(EmptyReply, paid(30))), budget, lambda _: PRICE), Backoff(base=0)))
    with pytest.raises(BudgetExceeded) as refusal:
        await call(ASK)
    assert refusal.value.cost == budget.spent.cost == 30


async def test_25_seconds_of_500s_cost_nothing() -> None:
    time = FakeTime()
    budget = Budget(Caps(cost=5_000_000))
    down = scripted(lambda _: ServerFault("down", status=500) if time.now < 1025 else paid(70))
    patience = Backoff(attempts=100, base=0.5, cap=1)
    call = retrying(budgeted(down, budget, lambda _: PRICE), patience, sleep=time.sleep, random=lambda: 0.5)
    reply = await call(ASK)
    assert reply.attempts > 40
    assert (budget.spent, budget.unknown.cost) == (Spend(70, 13, reply.attempts), 0)


async def test_an_unknown_price_is_refused_under_a_cap_in_usd_only() -> None:
    with pytest.raises(UnknownPrice, match=r"prices\.toml"):
        await budgeted(answers("never"), Budget(Caps(cost=100)), lambda _: None)(ASK)
    assert (await budgeted(answers("ok"), Budget(Caps(calls=1)), lambda _: None)(ASK)).text == "ok"


@pytest.mark.parametrize("caps", [Caps(cost=0), Caps(tokens=0), Caps(calls=0)])
async def test_a_budget_of_nothing_sends_nothing(caps: Caps) -> None:
    with pytest.raises(BudgetExceeded):
        await budgeted(answers(), Budget(caps), lambda _: PRICE)(ASK)


async def test_an_answer_without_a_bound_gets_one_under_a_cap_and_thinks_little() -> None:
    asked = list[tuple[int | None, str | None]]()

    def script(request: Request) -> str:
        asked.append((request.max_tokens, request.effort))
        return "ok"

    free = dataclasses.replace(ASK, max_tokens=None)
    capped = budgeted(scripted(script), Budget(Caps(tokens=100_000)), lambda _: None)
    await capped(free)
    await capped(dataclasses.replace(free, effort="high"))
    await budgeted(scripted(script), Budget(Caps(calls=10)), lambda _: None)(free)
    thinking = ANSWER_TOKENS + REASONING_TOKENS["high"]
    assert asked == [(ANSWER_TOKENS + REASONING_TOKENS["low"], "low"), (thinking, "high"), (None, None)]


@pytest.mark.parametrize(
    ("tokens", "came", "sent"),
    [(100_000, "", [6_144, 12_288]), (100_000, "A half", [6_144]), (13_000, "", [6_144])],
    ids=["once more, doubled", "not where words came", "not where it does not fit"],
)
async def test_an_answer_that_was_all_reasoning_is_asked_once_more(tokens: int, came: str, sent: list[int]) -> None:
    asked = list[int | None]()

    def script(request: Request) -> Exception:
        asked.append(request.max_tokens)
        cut = ReplyTruncated("the answer was cut by its token limit")
        cut.partial = Reply(came, "m", "test", Usage(10, request.max_tokens or 0))
        return cut

    budget = Budget(Caps(tokens=tokens))
    with pytest.raises(ReplyTruncated):
        await budgeted(scripted(script), budget, lambda _: None)(dataclasses.replace(ASK, max_tokens=None))
    assert asked == sent
    assert budget.held == Spend()


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=60), st.integers(0, 300))
def test_spent_and_held_never_exceed_the_cap(steps: list[tuple[int, int]], cap: int) -> None:
    budget, open_holds = Budget(Caps(tokens=cap)), list[Spend]()
    for amount, settled in steps:
        hold = Spend(tokens=amount)
        try:
            budget.reserve(hold, "here")
            open_holds.append(hold)
        except BudgetExceeded:
            pass
        assert budget.spent.tokens + budget.unknown.tokens + budget.held.tokens <= cap
        if open_holds and settled % 2:
            done = open_holds.pop(0)
            took = Spend(tokens=min(settled, done.tokens))
            budget.settle(done, Settlement(took, Spend()) if settled % 3 else Settlement(Spend(), took))
    assert budget.held.tokens == sum(hold.tokens for hold in open_holds)


# prices


async def test_a_providers_own_cost_wins_over_the_table() -> None:
    table = PriceTable({"m": PRICE})
    assert (await priced(answers(paid(7)), partial(table.find, "p"))(ASK)).cost == 7
    unpriced = dataclasses.replace(paid(7), cost=None, cost_source="unknown")
    reply = await priced(answers(unpriced), partial(table.find, "p"))(ASK)
    assert (reply.cost, reply.cost_source) == (103, "table")


def test_what_listens_on_this_machine_is_free_and_what_only_looks_like_it_is_not() -> None:
    table = PriceTable({"dear": PRICE})
    assert table.find("http://127.0.0.1:8080/v1", "mine") == Price(0, 0)
    assert table.find("http://127.0.0.1:8080/v1", "dear") == PRICE
    for elsewhere in ("http://127.evil.example/v1", "http://localhost.evil.example/v1"):
        assert table.find(elsewhere, "mine") is None


async def test_a_budget_says_what_it_has_spent_so_that_a_resumed_run_starts_there() -> None:
    events = list[Event]()
    caps = Caps(cost=10 * WORST)
    budget = Budget(caps, emit=events.append)
    with pytest.raises(ConnectionCut):
        await budgeted(answers(ConnectionCut("cut")), budget, lambda _: PRICE)(ASK)
    await budgeted(answers(paid(7)), budget, lambda _: PRICE)(ASK)
    assert spent_before(events) == Account(Caps(), budget.spent, unknown=budget.unknown)
    budget.reserve(Spend(cost=5, calls=1), "a call that a kill leaves open")
    account = spent_before(events)
    assert (account.spent.cost, account.unknown.cost) == (7, WORST + 5)


ATTEMPTS = st.tuples(st.sampled_from(["answered", "broke off", "down", "refused"]), st.integers(0, WORST))


@given(st.lists(ATTEMPTS, min_size=1, max_size=12))
def test_a_run_without_a_cap_goes_on_from_the_sum_of_its_log(attempts: list[tuple[str, int]]) -> None:
    kinds = {
        "answered": paid,
        "broke off": lambda cost: cut(EmptyReply, paid(cost)),
        "down": lambda _: ServerFault("down", status=500),
        "refused": lambda _: RequestRefused("no", status=400),
    }
    script = [kinds[kind](cost) for kind, cost in attempts]
    events, budget = list[Event](), Budget(Caps())
    model = scripted(lambda _: script.pop(0) if script else RequestRefused("no", status=400))
    call = recording(billed(retrying(budgeted(model, budget, lambda _: PRICE), Backoff(base=0))), events.append)

    async def run() -> None:
        while script:
            with suppress(CallError):
                await call(ASK)

    asyncio.run(run())
    taken = sum(cost for kind, cost in attempts if kind in ("answered", "broke off"))
    assert spent_before(events).spent.cost == budget.spent.cost == taken


@given(st.lists(ATTEMPTS, min_size=1, max_size=12))
def test_the_events_of_calls_tell_a_capped_run_s_account(attempts: list[tuple[str, int]]) -> None:
    """At every moment the log covers what was sent, so that whoever goes on after a kill overspends nothing."""
    kinds = {
        "answered": paid,
        "broke off": lambda cost: cut(EmptyReply, paid(cost)),
        "down": lambda _: ConnectionCut("cut"),
        "refused": lambda _: RequestRefused("no", status=400),
    }
    script = [kinds[kind](cost) for kind, cost in attempts]
    events, sent = list[Event](), 0
    budget = Budget(Caps(calls=100), emit=events.append)

    async def model(request: Request) -> Reply:
        nonlocal sent
        sent += 1
        told = spent_before(events)
        assert told.spent.calls + told.unknown.calls >= sent
        await asyncio.sleep(0)
        answer = script.pop(0) if script else RequestRefused("no", status=400)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    within = billed(retrying(budgeted(model, budget, lambda _: PRICE), Backoff(base=0)))
    call = recording(within, events.append, budget=budget)

    async def one() -> None:
        while script:
            with suppress(CallError):
                await call(ASK)

    asyncio.run(one())
    last = next(stands for event in reversed(events) if (stands := account_in(event)))
    assert (last.spent, last.held, last.unknown) == (budget.spent, budget.held, budget.unknown)
    kept = [account_in(parse_event(event.payload())) for event in events]
    assert kept == [account_in(event) for event in events]


async def test_a_call_of_a_capped_run_that_is_answered_is_two_records() -> None:
    events: list[Event] = []
    budget = Budget(Caps(calls=10), emit=events.append)
    call = recording(budgeted(answers(*map(paid, (5, 6))), budget, lambda _: PRICE), events.append, budget=budget)
    await call(ASK)
    await call(ASK)
    assert [event.type for event in events] == ["call.started", "call.finished"] * 2
    assert [(account_in(event) or Account()).held.calls for event in events] == [1, 0, 1, 0]
    assert all(event.canonical() == canonical_json(event.payload()) for event in events)


async def test_a_call_that_no_money_is_left_for_begins_and_fails_in_the_log() -> None:
    events: list[Event] = []
    budget = Budget(Caps(calls=0), emit=events.append)
    with pytest.raises(BudgetExceeded):
        await recording(budgeted(answers(), budget, lambda _: PRICE), events.append, budget=budget)(ASK)
    assert [event.type for event in events] == ["call.started", "call.failed"]


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**9), st.integers(0, 10**9))
def test_costs_are_rounded_up_to_whole_micro_dollars(asked: int, said: int, per_in: int, per_out: int) -> None:
    price = Price(per_in / 1e6, per_out / 1e6)
    exact = asked * per_in + said * per_out  # in millionths of a micro-dollar
    assert 0 <= price.cost(asked, said) * 10**6 - exact <= 10**6 + exact * 1e-9


async def test_a_retry_after_of_a_century_does_not_close_the_limiter_for_one() -> None:
    time = FakeTime()
    limiter = Limiter(Limits(), clock=time, sleep=time.sleep)
    limiter.refused(retry_after=3e9)
    await limiting(scripted(lambda _: "ok"), limiter)(ASK)
    assert time.slept == [120.0]


# metered


async def test_a_meter_counts_every_answer_and_one_that_was_cut_off() -> None:
    cut = ReplyTruncated("cut")
    cut.partial = Reply("hal", "small", "p", Usage(5, 3), cost=20)
    script = [Reply("yes", "big", "p", Usage(10, 2), cost=70), cut, ServerFault("down")]
    meter = Meter(answers(*script, Reply("no", "big", "p", Usage(1, 1), cost=None)))
    assert (await meter(ASK)).text == "yes"
    with pytest.raises(ReplyTruncated):
        await meter(ASK)
    with pytest.raises(ServerFault):
        await meter(ASK)
    assert (meter.calls, meter.input_tokens, meter.output_tokens, meter.tokens) == (2, 15, 5, 20)
    assert meter.cost == meter.known_cost == 90
    await meter(ASK)
    assert meter.cost is None and (meter.known_cost, meter.unpriced_calls) == (90, 1)
    assert meter.models == {"big": 2, "small": 1}
