"""The ledger against everything that may be done to it, and what is folded out of its events."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ai_crucible import Catalog, Ledger, Policy, Signer, SigningFailed, effects, histories, rollup
from ai_crucible.arms import history_of, standings_of
from ai_crucible.attestation import last_line
from ai_crucible.events import AttemptGraded, PuzzleAdmitted, PuzzleMoved, TrialLogged, TrialResumed
from ai_crucible.figures import bounds
from ai_crucible.types import AttemptRecord
from assay.protocols.ai_crucible.report.words import in_all
from llm_runtime.errors import StoreDamaged
from llm_runtime.events import GENESIS, link, parse_event
from llm_runtime.store.anchor import HeadFiles
from llm_runtime.store.signing import KeySigner


def graded(number: int, passed: bool | None = True, puzzle: str = "p") -> AttemptGraded:
    return AttemptGraded(
        trial="t", puzzle=puzzle, kind="k", epoch=number, model="m", arm="neutral", passed=passed,
        sample_digest="0" * 64,
    )  # fmt: skip


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Ten events, appended in three goes."""
    ticks = itertools.count(1_700_000_000_000)
    signer = KeySigner(tmp_path / "keys" / "signing.key")
    made = Ledger(tmp_path / "shop" / "ledger.jsonl", tmp_path / "anchors", signer, lambda: next(ticks))
    for start, end in ((1, 4), (4, 5), (5, 11)):
        made.append([graded(number) for number in range(start, end)])
    return made


def lines(ledger: Ledger) -> list[bytes]:
    return ledger.path.read_bytes().splitlines(keepends=True)


def test_an_untouched_ledger_verifies(ledger: Ledger) -> None:
    result = ledger.verify()
    assert result.ok and result.length == result.anchored == 10
    assert [event.epoch for event in ledger.events() if isinstance(event, AttemptGraded)] == list(range(1, 11))


def rewritten(old: list[bytes]) -> list[bytes]:
    """The whole chain computed anew by somebody who knows how, with one verdict turned round."""
    digest, new = GENESIS, []
    for seq, line in enumerate(old, 1):
        body = json.loads(line)["body"]
        body["passed"] = seq != 3
        record = link(digest, seq, json.loads(line)["at"], parse_event(body))
        digest = record.digest
        start = b'{"seq":%d,"at":%d,"digest":"%s","body":' % (seq, record.at, digest.hex().encode())
        new.append(start + record.body + b"}\n")
    return new


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (lambda old: [old[0], old[1].replace(b"true", b"false"), *old[2:]], "edited"),
        (lambda old: [*old[:9], old[9].replace(b"true", b"false")], "edited"),
        (lambda old: [*old[:4], *old[5:]], "deleted"),
        (lambda old: old[1:], "deleted"),
        (lambda old: [*old[:2], old[3], old[2], *old[4:]], "reordered"),
        (lambda old: [*old[:5], old[4], *old[5:]], "inserted"),
        (lambda old: old[:9], "truncated"),
        (lambda old: old[:1], "truncated"),
        (lambda old: [], "emptied"),
        (rewritten, "rewritten"),
        (lambda old: [*rewritten(old)[:6]], "truncated"),
        (lambda old: [*old[:5], b"nonsense\n", *old[5:]], "edited"),
        (lambda old: [*old[:9], old[9][:40]], "edited"),
        # A number that nobody could count up to.
        (lambda old: [*old[:5], old[5].replace(b'"seq":6', b'"seq":9999999999999999'), *old[6:]], "edited"),
        (lambda old: [*old[:5], old[5].replace(b'"seq":6', b'"seq":60'), *old[6:]], "edited"),
    ],
)
def test_every_tampering_is_found_and_named(
    ledger: Ledger, change: Callable[[list[bytes]], list[bytes]], kind: str
) -> None:
    ledger.path.write_bytes(b"".join(change(lines(ledger))))
    findings = ledger.verify().findings
    assert kind in [finding.kind for finding in findings], findings


@given(data=st.data())
def test_no_changed_byte_goes_unnoticed(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "bytes"
    if not folder.exists():
        made = Ledger(folder / "l.jsonl", folder / "anchors", KeySigner(folder / "key"), lambda: 1)
        made.append([graded(number) for number in range(1, 5)])
        shutil.copy(made.path, folder / "good")
    made = Ledger(folder / "l.jsonl", folder / "anchors", KeySigner(folder / "key"))
    good = (folder / "good").read_bytes()
    place = data.draw(st.integers(0, len(good) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != good[place]))
    made.path.write_bytes(good[:place] + bytes([byte]) + good[place + 1 :])
    assert not made.verify().ok


def test_a_removed_file_and_a_removed_or_forged_head_are_found(ledger: Ledger, tmp_path: Path) -> None:
    head = ledger.anchors / f"{ledger.name}.json"
    text = head.read_text()
    head.unlink()
    assert [finding.kind for finding in ledger.verify().findings] == ["unanchored"]
    other = KeySigner(tmp_path / "other.key")
    data = json.loads(text)
    from llm_runtime.store.anchor import SignedHead

    forged = other.sign(SignedHead.from_dict(data).head)
    head.write_text(json.dumps(forged.to_dict()))
    assert [finding.kind for finding in ledger.verify().findings] == ["bad signature"]
    head.write_text(json.dumps({**data, "length": 9}))
    assert [finding.kind for finding in ledger.verify().findings] == ["bad signature"]
    head.write_text(text)
    ledger.path.unlink()
    assert [finding.kind for finding in ledger.verify().findings] == ["emptied"]


def test_nothing_is_added_on_top_of_a_damaged_ledger(ledger: Ledger) -> None:
    ledger.path.write_bytes(b"".join(lines(ledger)[:8]))
    with pytest.raises(StoreDamaged, match="verify"):
        ledger.append([graded(11)])


@pytest.mark.parametrize("kept", [0, 5, 9])
def test_nothing_is_added_on_top_of_a_chain_made_anew_at_the_same_length(ledger: Ledger, kept: int) -> None:
    old = [event for event in ledger.events() if isinstance(event, AttemptGraded)]
    ledger.path.unlink()
    forger = Ledger(ledger.path, ledger.anchors.with_name("elsewhere"), ledger.signer, ledger.clock)
    forger.append([*old[:kept], *(graded(event.epoch, passed=False) for event in old[kept:])])
    before = ledger.path.read_bytes()
    with pytest.raises(StoreDamaged, match="does not end as its signed head says"):
        ledger.append([graded(11)])
    assert ledger.path.read_bytes() == before


def test_a_changed_or_missing_log_is_found(ledger: Ledger) -> None:
    log = ledger.path.parent / "logs/t/x.eval"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"an inspect log")
    from ai_crucible.attestation import file_digest

    ledger.append([TrialLogged(trial="t", log="logs/t/x.eval", sha256=file_digest(log), size=14, status="success")])
    assert ledger.verify().ok
    log.write_bytes(b"another one...")
    assert [finding.kind for finding in ledger.verify().findings] == ["log changed"]
    log.unlink()
    assert [finding.kind for finding in ledger.verify().findings] == ["log missing"]


@pytest.mark.parametrize(
    "program",
    [
        "print('not json')",
        "print('{}')",
        'print(\'{"version": 1, "algorithm": "ed25519", "public_key": "%s"}\' % (\'0\' * 64))',
        'print(\'{"version": 1, "algorithm": "md5", "public_key": "%s"}\' % (\'0\' * 64))',
        "import json; print(json.dumps({'version': 1, 'error': 'no token'}))",
        "raise SystemExit(3)",
    ],
)
def test_a_signing_program_that_breaks_the_contract_adds_nothing(ledger: Ledger, program: str) -> None:
    before = ledger.path.read_bytes()
    broken = replace(ledger, signer=Signer((sys.executable, "-c", program)))
    with pytest.raises(SigningFailed):
        broken.append([graded(11)])
    assert ledger.path.read_bytes() == before
    assert ledger.verify().ok


def test_another_key_cannot_go_on_with_a_ledger(ledger: Ledger, tmp_path: Path) -> None:
    stranger = replace(ledger, signer=KeySigner(tmp_path / "stranger.key"))
    with pytest.raises(SigningFailed, match="another key"):
        stranger.append([graded(11)])
    assert ledger.verify().ok


def test_a_program_that_keeps_the_key_signs_and_what_it_signed_verifies(ledger: Ledger, tmp_path: Path) -> None:
    program = replace(ledger, signer=Signer.built_in(tmp_path / "keys" / "signing.key"))
    program.append([graded(11)])
    result = program.verify()
    assert result.ok and result.anchored == 11


WRITERS = """
import os, sys
from pathlib import Path
from ai_crucible import Ledger
from ai_crucible.events import PuzzleAdmitted
from llm_runtime.store.signing import KeySigner

root = Path(sys.argv[1])
begin, go = os.pipe()
children = []
for writer in range(3):
    if (child := os.fork()) == 0:
        os.close(go)
        os.read(begin, 1)
        ledger = Ledger(root / "l.jsonl", root / "anchors", KeySigner(root / "key"))
        for number in range(6):
            ledger.append([PuzzleAdmitted(puzzle=f"{writer}-{number}-{n}", kind="k", digest="d") for n in range(2)])
        os._exit(0)
    children.append(child)
os.close(go)
sys.exit(max(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.process
def test_concurrent_writers_keep_one_chain(tmp_path: Path) -> None:
    made = Ledger(tmp_path / "l.jsonl", tmp_path / "anchors", KeySigner(tmp_path / "key"))
    made.append([graded(0)])
    subprocess.run([sys.executable, "-c", WRITERS, str(tmp_path)], check=True)
    result = made.verify()
    assert result.ok and result.length == 37
    names = [event.puzzle for event in made.events() if isinstance(event, PuzzleAdmitted)]
    for writer in range(3):
        own = [name for name in names if name.startswith(f"{writer}-")]
        assert own == [f"{writer}-{number}-{n}" for number in range(6) for n in range(2)]


def test_the_key_file_is_private(ledger: Ledger, tmp_path: Path) -> None:
    assert (tmp_path / "keys/signing.key").stat().st_mode & 0o777 == 0o600


KILLED = """
import itertools, os, sys
from pathlib import Path
from ai_crucible import Ledger
from ai_crucible.events import PuzzleAdmitted
from llm_runtime.store.signing import KeySigner

def append(root, names):
    ledger = Ledger(root / "shop/l.jsonl", root / "anchors", KeySigner(root / "key"))
    ledger.append([PuzzleAdmitted(puzzle=name, kind="k", digest="d") for name in names])

def die_before(step, root):
    steps = itertools.count()
    def hook(event, arguments):
        if event in ("open", "os.rename", "os.remove", "os.truncate") and str(root) in str(arguments[0]):
            if next(steps) == step:
                os.kill(os.getpid(), 9)
    sys.addaudithook(hook)

for step in itertools.count():
    root = Path(sys.argv[1]) / str(step)
    if sys.argv[2] == "later":
        append(root, "ab")
    if (child := os.fork()) == 0:
        die_before(step, root)
        append(root, "cde")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def goes_on(root: Path) -> str:
    """Go on with a ledger whose writer was killed, and return the puzzles that it names before the new one."""
    ledger = Ledger(root / "shop/l.jsonl", root / "anchors", KeySigner(root / "key"))
    assert ledger.verify().ok, ledger.verify().findings
    ledger.append([admitted("new")])
    names = [event.puzzle for event in ledger.events() if isinstance(event, PuzzleAdmitted)]
    assert ledger.verify().ok and names.pop() == "p"
    return "".join(names)


@pytest.mark.process
@pytest.mark.parametrize(("begun", "there"), [pytest.param("first", "", marks=pytest.mark.long), ("later", "ab")])
def test_killed_before_any_step_of_an_append_the_ledger_goes_on_with_all_of_it_or_none(
    tmp_path: Path, begun: str, there: str
) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), begun], check=True)
    roots = sorted(tmp_path.iterdir(), key=lambda root: int(root.name))
    left = [goes_on(root) for root in roots]
    assert len(roots) > 6 and set(left) == {there, f"{there}cde"} and left == sorted(left)


def test_a_line_that_a_power_cut_tore_is_cut_off_and_one_that_nobody_began_is_not(
    ledger: Ledger, tmp_path: Path
) -> None:
    before, whole = len(ledger.path.read_bytes()), HeadFiles(ledger.anchors)
    head = whole.load(ledger.name)
    assert head is not None
    ledger.append([graded(11), graded(12)])
    coming, text = whole.load(ledger.name), ledger.path.read_bytes()
    assert coming is not None
    for end in (before, before + 1, text.index(b"\n", before) + 1, len(text) - 1, len(text)):
        whole.keep(ledger.name, head)
        whole.keep(f"{ledger.name}.coming", coming)
        ledger.path.write_bytes(text[:end])
        assert ledger.verify().ok and len(list(ledger.events())) == (12 if end == len(text) else 10)
    whole.keep(ledger.name, head)
    ledger.path.write_bytes(text)
    assert [finding.kind for finding in ledger.verify().findings] == ["unanchored"]
    with pytest.raises(StoreDamaged, match="verify"):
        ledger.append([graded(13)])
    assert ledger.path.read_bytes() == text


# --- catalog -------------------------------------------------------------------------------------------------


def admitted(digest: str = "d1") -> PuzzleAdmitted:
    return PuzzleAdmitted(puzzle="p", kind="k", digest=digest)


def moved(catalog: Catalog) -> PuzzleMoved:
    move = catalog.next_move("p")
    assert isinstance(move, PuzzleMoved), move
    catalog.apply(move)
    return move


def test_a_puzzle_goes_from_lab_to_arena_to_regression_and_back() -> None:
    catalog = Catalog.of([admitted(), *[graded(n) for n in range(9)]], Policy(least_attempts=10))
    assert "9 of 10" in str(catalog.next_move("p"))
    catalog.apply(graded(10))
    assert moved(catalog).target == "arena"
    assert catalog.entries["p"].attempts == 0
    for number in range(10):
        catalog.apply(graded(number))
    assert "not saturated" in str(catalog.next_move("p"))
    for number in range(80):
        catalog.apply(graded(number))
    assert moved(catalog).target == "regression"
    assert catalog.entries["p"].saturation.log_e == 0
    for number in range(40):
        catalog.apply(graded(number, passed=number % 2 == 0))
    assert moved(catalog).target == "arena"
    assert catalog.entries["p"].moves == ("lab", "arena", "regression")


def test_errors_anchors_and_other_puzzles_count_for_nothing() -> None:
    events = [admitted(), graded(1, None), graded(2, puzzle="q"), graded(3).model_copy(update={"anchor": True})]
    assert Catalog.of(events).entries["p"].attempts == 0


def test_a_changed_puzzle_starts_over_and_the_same_one_does_not() -> None:
    events = [admitted(), graded(1), admitted(), graded(2)]
    assert Catalog.of(events).entries["p"].attempts == 2
    assert Catalog.of([*events, admitted("d2")]).entries["p"].attempts == 0


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 40))
def test_the_fold_is_the_same_in_one_go_or_two(outcomes: list[bool], cut: int) -> None:
    events = [admitted(), *[graded(n, passed) for n, passed in enumerate(outcomes)]]
    first = Catalog.of(events[:cut])
    for event in events[cut:]:
        first.apply(event)
    assert first.entries == Catalog.of(events).entries


# --- rollups, arms ---------------------------------------------------------------------------------


def records(
    model: str, kind: str, passed: int, total: int, arm: Any = "neutral", puzzle: str = ""
) -> list[AttemptRecord]:
    name = puzzle or f"{kind}-puzzle"
    return [
        AttemptRecord(puzzle=name, kind=kind, epoch=n + 1, model=model, arm=arm, passed=n < passed, tool_calls=n)
        for n in range(total)
    ]


def test_histories_and_rollups_count_attempts_not_samples() -> None:
    attempts = [*records("m", "a", 4, 5), *records("m", "b", 5, 5)]
    first, second = histories(attempts)
    assert (first.attempts, first.passed) == (5, 4)
    assert first.pass_hat(2) == pytest.approx(0.6) and second.pass_hat(2) == 1
    assert first.pass_at(2) == 1
    (model,) = rollup(attempts)
    assert model.rate is not None and model.rate.estimate == pytest.approx(0.9)
    assert model.rate.low == pytest.approx(0.5958, abs=1e-3)
    assert model.reliability == (5, 0.5)


def test_an_error_is_no_failure_and_anchors_calibrate() -> None:
    error = AttemptRecord(puzzle="a", kind="a", epoch=1, model="m", passed=None, error="x")
    anchor = AttemptRecord(puzzle="z", kind="z", epoch=1, model="m", passed=True, anchor="impossible")
    (model,) = rollup([error, anchor, *records("m", "a", 1, 1, puzzle="a"), *records("m", "b", 8, 8)])
    assert model.anchors_as_expected is False
    assert model.rate is not None and model.rate.estimate == 1 and model.died == 1
    assert [h.errors for h in model.puzzles] == [1, 0, 0]


def test_where_many_died_no_rate_is_told() -> None:
    (model,) = rollup(records("m", "a", 5, 5), {("m", "neutral"): 18})
    assert (model.passed, model.attempts, model.died, model.rate, model.reliability) == (5, 5, 18, None, None)
    assert bounds(5, 0, 18) == (5 / 23, 1) and bounds(0, 0, 0) == (0, 1)


def test_hours_of_a_persons_work_are_told_of_the_tasks_passed() -> None:
    hard, easy = (records("m", kind, passed, 2) for kind, passed in (("a", 1), ("b", 0)))
    untold = records("m", "c", 2, 2)
    hours = [one.model_copy(update={"hours": 5.5}) for one in hard] + [
        one.model_copy(update={"hours": 3.0}) for one in easy
    ]
    (model,) = rollup([*hours, *untold])
    assert "the tasks passed stand for 5.5 of 8.5 hours of a person's work" in in_all(model)
    (model,) = rollup(untold)
    assert "hours" not in in_all(model)


def test_an_arm_is_an_effect_with_an_interval_over_shared_puzzles() -> None:
    attempts = [
        *records("m", "a", 5, 20), *records("m", "a", 18, 20, "self_referential"),
        *records("m", "b", 0, 20), *records("m", "c", 20, 20, "social_standings"),
    ]  # fmt: skip
    (effect,) = effects(attempts)
    assert (effect.arm, effect.passed, effect.neutral_passed) == ("self_referential", 18, 5)
    assert effect.shown and effect.difference.estimate == pytest.approx(0.65)


def test_an_arm_that_tried_the_easy_puzzles_more_often_shows_no_effect() -> None:
    attempts = [
        *records("m", "easy", 18, 20, "self_referential"), *records("m", "easy", 5, 6),
        *records("m", "hard", 1, 6, "self_referential"), *records("m", "hard", 2, 20),
    ]  # fmt: skip
    (effect,) = effects(attempts)
    assert (effect.passed, effect.attempts, effect.neutral_passed, effect.neutral_attempts) == (19, 26, 7, 26)
    assert not effect.shown and abs(effect.difference.estimate) < 0.1


def test_the_more_arms_are_compared_the_wider_is_each_interval() -> None:
    one = [*records("m", "a", 12, 40), *records("m", "a", 21, 40, "self_referential")]
    (alone,) = effects(one)
    beside, _ = effects([*one, *records("m", "a", 12, 40, "social_standings")])
    assert alone.shown and not beside.shown and beside.difference.estimate == alone.difference.estimate


def test_an_append_reads_the_end_of_a_ledger_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "l.jsonl", tmp_path / "anchors", KeySigner(tmp_path / "key"))
    ledger.append([TrialResumed(trial=f"t{number}") for number in range(2_000)])
    before, step = ledger.path.stat().st_size, len(ledger.path.read_bytes().splitlines(keepends=True)[-1])

    def none(_: Ledger) -> NoReturn:
        raise AssertionError("it read the whole ledger")

    monkeypatch.setattr(Ledger, "records", none)
    ledger.append([TrialResumed(trial="t1999")])
    monkeypatch.undo()
    assert ledger.path.stat().st_size == before + step and ledger.verify().ok


@pytest.mark.parametrize("lines", [b"", b"one", b"one\n", b"one\ntwo\n", b"one\n" + b"x" * 200_000 + b"\n", b"\n\n"])
def test_a_last_line_is_read_from_the_end(lines: bytes, tmp_path: Path) -> None:
    (tmp_path / "l").write_bytes(lines)
    assert last_line(tmp_path / "l") == (lines.splitlines(keepends=True) or [b""])[-1]


def test_histories_of_arms_are_real_attempts() -> None:
    attempts = [*records("m", "a", 1, 2), *records("other", "a", 2, 3)]
    assert [past.passed for past in history_of(records("m", "a", 1, 2))["a-puzzle"]] == [True, False]
    assert standings_of(attempts, "m")["a-puzzle"][0].passed == 2
