"""What each verdict takes, on a small shop: true findings with their witnesses."""

from __future__ import annotations

import pytest
from tests.crucible.proving.shop import BASE, Shop, git, told, witness, write

from crucible.behaviour import BEHAVIOUR
from crucible.proving import States, judge, predict, read_change, read_state
from llm_runtime.behaviour import behaving

pytestmark = pytest.mark.box

FIRST = ("    if not items:\n        return 0\n    return items[0]\n", "    return items[0]\n")
SPLIT = ("range(0, len(items), size)]", "range(0, len(items) - 1, size)]")
LAST = ('" and " + names[-1]', '", and " + names[-1]')
DOWN = ("        start -= 1\n", "        start -= start > 1\n")


async def test_a_crash_that_the_change_brings_may_be_meant_and_is_a_change(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST)
    proof = await shop.judged(change, witness("assert lists.first([]) == 0", FIRST[::-1]), "shop/lists.py:15")
    assert (proof.verdict, proof.origin, proof.oracle) == ("changed", "regression", "none"), proof
    assert proof.failure and proof.failure.kind == "crash"
    assert proof.culprits == ["shop/lists.py:15-15"] and proof.runs > 10
    assert all(check.ok for check in proof.checks)


async def test_a_call_that_the_readme_answers_is_proved(shop: Shop) -> None:
    change = shop.change("shop/lists.py", LAST, FIRST)
    true = witness('assert lists.join_names(["a", "b"]) == "a and b"', LAST[::-1])
    proof = await shop.judged(change, true, "shop/lists.py:20")
    assert (proof.verdict, proof.oracle) == ("proved", "example"), proof
    assert len(proof.culprits) == 1


@pytest.mark.parametrize("kind", ["crash", "hang"])
async def test_a_log_of_before_calls_a_crash_or_a_hang_of_a_change_proved(shop: Shop, kind: str) -> None:
    change, true = shop.change("shop/lists.py", FIRST), witness("assert lists.first([]) == 0", FIRST[::-1])
    now = await judge(change, true, [], "f", told(change, kind))
    with behaving([(BEHAVIOUR, 10)]):
        before = await judge(change, true, [], "f", told(change, kind))
    assert [(one.verdict, one.oracle) for one in (now, before)] == [("changed", "none"), ("proved", kind)]


async def test_an_example_of_the_readme_that_crashes_now_is_proved(shop: Shop) -> None:
    edit = ('    return ", ".join(names[:-1])', '    return ", ".join(names[:-1]) + names[2][2]')
    change = shop.change("shop/lists.py", edit)
    true = witness('assert lists.join_names(["a", "b"]) == "a and b"', edit[::-1])
    proof = await shop.judged(change, true)
    assert (proof.verdict, proof.oracle) == ("proved", "example"), proof
    assert proof.failure and proof.failure.kind == "crash"


async def test_a_hang_in_the_repository_is_a_change(shop: Shop) -> None:
    change = shop.change("shop/lists.py", DOWN)
    proof = await shop.judged(change, witness("assert lists.count_down(3) == 3", DOWN[::-1]))
    assert (proof.verdict, proof.oracle) == ("changed", "none"), proof
    assert proof.failure and proof.failure.at.startswith("shop/lists.py:")


async def test_words_of_the_repository_argue(shop: Shop) -> None:
    change = shop.change("shop/lists.py", SPLIT)
    quote = "The last part may well be shorter."
    true = witness("assert lists.split_every([1, 2, 3], 2) == [[1, 2], [3]]", SPLIT[::-1], quote=quote)
    proof = await shop.judged(change, true, "shop/lists.py:11")
    assert (proof.verdict, proof.oracle, proof.words) == ("argued", "words", "shop/lists.py:6"), proof


async def test_without_words_it_is_a_change_and_what_the_change_says_of_it_is_told(shop: Shop) -> None:
    edit = ("{price:.2f} EUR", "{price:.3f} EUR")
    tests = BASE["tests/test_prices.py"].replace("1.00", "1.000")
    change = shop.change("shop/prices.py", edit, more={"tests/test_prices.py": tests})
    proof = await shop.judged(
        change, witness('assert prices.label(2) == "2.00 EUR"', edit[::-1], path="shop/prices.py")
    )
    assert proof.verdict == "not reproduced" and "the repository's tests hold the change" in proof.refused
    git(shop.folder, "reset", "-q", "--hard", "HEAD~1")
    silent = shop.change("shop/prices.py", ("percent) / 100, 0)", "percent) / 100, 1)"))
    true = witness("assert prices.discount(10, 99) == 0.1", ("/ 100, 1)", "/ 100, 0)"), path="shop/prices.py")
    proof = await shop.judged(silent, true)
    assert (proof.verdict, proof.oracle, proof.told) == ("changed", "none", ""), proof


async def test_what_fails_on_the_base_too_stood_before(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST)
    mend = ("    return max(items, key=len)\n", "    return max(items, key=len, default=None)\n")
    proof = await shop.judged(change, witness("assert lists.longest([]) is None", mend), "shop/lists.py:33")
    assert (proof.verdict, proof.origin) == ("stood before", "stood before"), proof


async def test_one_state_is_proved_by_a_crash(shop: Shop) -> None:
    write(shop.folder, {"shop/lists.py": BASE["shop/lists.py"].replace(*FIRST)})
    change = read_state(["shop/lists.py:15"], shop.command, at=shop.folder)
    assert change.single and "split_every" not in change.names
    true = witness("assert lists.first([]) == 0", FIRST[::-1])
    proof = await shop.judged(change, true, "shop/lists.py:15")
    assert (proof.verdict, proof.origin, proof.oracle) == ("proved", "stood before", "crash"), proof


async def test_a_crash_of_new_code_is_an_opinion_with_a_test(shop: Shop) -> None:
    new = "\n\ndef middle(items: list[int]) -> int:\n    return items[len(items) // 2]\n"
    change = shop.change(
        "shop/lists.py", ("    return max(items, key=len)\n", "    return max(items, key=len)\n" + new)
    )
    mend = ("    return items[len(items) // 2]", "    return items[len(items) // 2] if items else 0")
    proof = await shop.judged(change, witness("assert lists.middle([]) == 0", mend), "shop/lists.py:40")
    assert (proof.verdict, proof.origin, proof.oracle) == ("asserted", "new code", "none"), proof


async def test_a_prediction_costs_two_runs_and_says_what_both_states_answer(shop: Shop) -> None:
    change = shop.change("shop/lists.py", SPLIT)
    call = "from shop.lists import split_every\nsplit_every([1, 2, 3], 2)"
    right = witness("assert 1", call=call, before="[[1, 2], [3]]", after="[[1, 2]]")
    with States(change, at=shop.folder) as run:
        check = await predict(change, right, run)
        assert check.ok and check.runs == 2 and "[[1, 2], [3]] on the base" in check.what, check
        wrong = await predict(change, right.model_copy(update={"after": "[]"}), run)
        assert not wrong.ok and "and not []" in wrong.what
        idle = right.model_copy(update={"call": call.replace("3]", "3, 4]"), "after": "[[1, 2]]"})
        assert "the change does not change it" in (await predict(change, idle, run)).what
        stated = "from shop.lists import split_every\nitems = [1, 2]\nitems.append(3)\nsplit_every(items, 2)"
        first = right.model_copy(update={"call": stated})
        assert (await predict(change, first, run)).ok, "what is done before the call"
    mute = change.model_copy(update={"command": f"{change.command} --bare"})
    with States(mute, at=shop.folder) as run:
        said = (await predict(mute, right, run)).what
    assert said.startswith(f"“{mute.command}” runs no test: ") and "--bare" in said[len(mute.command) + 17 :], said


async def test_what_is_uncommitted_is_a_state_and_git_stays_as_it_is(shop: Shop) -> None:
    write(shop.folder, {"shop/lists.py": BASE["shop/lists.py"].replace(*FIRST), "shop/new.py": "X = 1\n"})
    before = git(shop.folder, "status", "--porcelain"), git(shop.folder, "count-objects")
    change = read_change("", shop.command, at=shop.folder)
    proof = await shop.judged(change, witness("assert lists.first([]) == 0", FIRST[::-1]))
    assert proof.verdict == "changed", proof
    assert (git(shop.folder, "status", "--porcelain"), git(shop.folder, "count-objects")) == before


async def test_what_was_asked_once_is_not_run_again_and_a_log_answers_for_the_box(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST)
    true, log = witness("assert lists.first([]) == 0", FIRST[::-1]), {}
    with States(change, at=shop.folder) as run:

        async def recorded(ask):
            log[ask.key] = await run(ask)
            return log[ask.key]

        first = await judge(change, true, [], "f", recorded)

    async def replayed(ask):
        return log[ask.key]

    stored = type(change).model_validate_json(change.model_dump_json())
    assert await judge(stored, true, [], "f", replayed) == first
