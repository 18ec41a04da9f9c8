"""Sixty ways to forge a trial: each is found, or is out of reach of any signature and told as such in the docs."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.bundled import Bench, Opened, log_of

from ai_crucible import Workshop
from ai_crucible.bundle import BundleVerification, make_bundle, verify_bundle
from ai_crucible.events import AttemptBegun, AttemptGraded, AttemptWitnessed, TrialLogged, TrialPlanned
from ai_crucible.figures import figures_of
from llm_runtime.errors import ConfigurationError, StoreDamaged
from llm_runtime.events import parse_event
from llm_runtime.store.signing import KeySigner

Forgery = Callable[[Opened, "Place"], Any]


class Place:
    """Where a forger works: a folder, a key of his own, and the true signer's for a holder of the key who lies."""

    def __init__(self, folder: Path, bench: Bench, path: Path) -> None:
        self.folder, self.bench, self.path = folder, bench, path

    @property
    def own(self) -> KeySigner:
        return KeySigner(self.folder / "forger.key")

    @property
    def true(self) -> Any:
        return self.bench.shop.ledger.signer


def flip(event: Any) -> Any:
    return event.model_copy(update={"passed": True}) if isinstance(event, AttemptGraded) else event


def rewritten(bundle: Opened, change: Callable[[Any], Any], signer: Any = None) -> None:
    bundle.chain([change(event) for event in bundle.events])
    if signer is not None:
        bundle.sign(signer)


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Forgery:
    def forge(bundle: Opened, place: Place) -> None:
        bundle.lines = change(bundle.lines)

    return forge


def head(**changes: Any) -> Forgery:
    def forge(bundle: Opened, place: Place) -> None:
        bundle.manifest = {**bundle.manifest, "head": {**bundle.manifest["head"], **changes}}

    return forge


def entry(change: Callable[[dict[str, bytes], str], Any]) -> Forgery:
    def forge(bundle: Opened, place: Place) -> None:
        change(bundle.entries, bundle.log)

    return forge


def manifest(change: Callable[[dict[str, Any]], Any]) -> Forgery:
    def forge(bundle: Opened, place: Place) -> None:
        data = bundle.manifest
        change(data)
        bundle.manifest = data

    return forge


def replaced(old: bytes, new: bytes) -> Forgery:
    return lines(lambda there: [line.replace(old, new) for line in there])


def swapped(entries: dict[str, bytes], log: str, place: str = "logs/") -> None:
    first, second = sorted(name for name in entries if name.startswith(place))
    entries[first], entries[second] = entries[second], entries[first]


def raw(change: Callable[[bytes], bytes]) -> Forgery:
    return lambda bundle, place: change(bundle.write(place.path).read_bytes())


def replan(**changes: Any) -> Forgery:
    """A holder of the key who plans one thing and does another."""

    def change(event: Any) -> Any:
        return event.model_copy(update=changes) if isinstance(event, TrialPlanned) else event

    return lambda bundle, place: rewritten(bundle, change, place.true)


def lied(number: int, /, **changes: Any) -> Forgery:
    """A holder of the key who tells something else of an attempt than its log."""

    def change(event: Any) -> Any:
        return event.model_copy(update=changes) if getattr(event, "epoch", 0) == number else event

    return lambda bundle, place: rewritten(bundle, change, place.true)


def everywhere(old: str, new: str) -> Forgery:
    """A holder of the key who writes all of the ledger with other words."""

    def forge(bundle: Opened, place: Place) -> None:
        bundle.chain(
            [parse_event(json.loads(json.dumps(event.payload()).replace(old, new))) for event in bundle.events]
        )
        bundle.sign(place.true)

    return forge


def added(**changes: Any) -> Forgery:
    """A holder of the key who adds an attempt to what the log holds."""

    def forge(bundle: Opened, place: Place) -> None:
        events = bundle.events
        more = Bench.attempt("one", **{"number": 4, **changes})
        bundle.chain([*events[:2], more, *events[2:]])
        bundle.sign(place.true)

    return forge


def twice(bundle: Opened, place: Place) -> bytes:
    path = bundle.write(place.path)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning):
        archive.writestr(zipfile.ZipInfo("ledger.jsonl"), b"")
    return path.read_bytes()


def deflated(bundle: Opened, place: Place) -> bytes:
    with zipfile.ZipFile(place.path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in bundle.entries.items():
            archive.writestr(name, data)
        archive.writestr("logs/one/bomb.eval", bytes(50_000_000))
    return place.path.read_bytes()


def other_ledger(bundle: Opened, place: Place) -> None:
    """The head of another ledger that the same key signs."""
    elsewhere = Bench.at(place.folder / "elsewhere")
    elsewhere.shop.ledger.signer = place.true
    elsewhere.trial("one", "ppp")
    signed = elsewhere.shop.ledger.head()
    assert signed is not None
    bundle.manifest = {**bundle.manifest, "head": signed.to_dict()}


def doubled_field(bundle: Opened, place: Place) -> None:
    """A holder of the key writes a verdict that one reader takes for true and another for false."""
    import llm_runtime.events.chain as chain
    from llm_runtime.events import GENESIS, Record

    digest, made = GENESIS, []
    for seq, line in enumerate(bundle.lines, 1):
        body = json.dumps(json.loads(line)["body"], separators=(",", ":"), sort_keys=True).encode()
        body = body.replace(b'"passed":false', b'"passed":false,"passed":true')
        digest = chain.chain_digest(digest, seq, seq, body)
        made.append(chain.written(Record(seq, seq, body, digest)))
    bundle.lines = made
    bundle.sign(place.true)


FORGERIES: dict[str, tuple[Forgery, str]] = {
    "a verdict is turned round": (replaced(b'"passed":false', b'"passed":true'), "edited"),
    "and the chain computed anew": (lambda b, p: rewritten(b, flip), "rewritten"),
    "and signed with a key of one's own": (lambda b, p: rewritten(b, flip, p.own), "bad signature"),
    "a line is taken out": (lines(lambda old: [*old[:2], *old[3:]]), "deleted"),
    "the failed attempt is taken out and all chained anew": (
        lambda b, p: b.chain([e for e in b.events if getattr(e, "passed", True)]), "truncated"),
    "two lines change places": (lines(lambda old: [old[0], old[2], old[1], *old[3:]]), "reordered"),
    "a line stands twice": (lines(lambda old: [*old[:2], old[1], *old[2:]]), "inserted"),
    "the end is cut off": (lines(lambda old: old[:-1]), "truncated"),
    "half a line is cut off": (lines(lambda old: [*old[:-1], old[-1][:40]]), "edited"),
    "the ledger is empty": (lines(lambda old: []), "emptied"),
    "a blank is put in": (lines(lambda old: [old[0].replace(b'"m"', b'"m" '), *old[1:]]), "edited"),
    "lines end otherwise": (replaced(b"\n", b"\r\n"), "edited"),
    "the model has another name": (replaced(b'"model":"m"', b'"model":"n"'), "edited"),
    "the oracle of the plan is another": (replaced(b"2" * 64, b"3" * 64), "edited"),
    "lines are added that nobody signed": (
        lambda b, p: b.chain([*b.events, Bench.attempt("one", 4)]), "rewritten"),
    "the head names another length": (head(length=3), "bad signature"),
    "the head names another end": (head(digest="0" * 64), "bad signature"),
    "the head names another ledger": (head(run_id="other"), "bad signature"),
    "a bit of the signature is turned": (head(signature="0" * 128), "bad signature"),
    "the key is replaced": (head(public_key=hashlib.sha256(b"k").hexdigest()), "bad signature"),
    "the head is that of another ledger": (other_ledger, "truncated|rewritten|edited|bad signature"),
    "the head is gone": (manifest(lambda m: m.pop("head")), "not a bundle"),
    "there are two heads": (manifest(lambda m: m.update(head=[m["head"]] * 2)), "not a bundle"),
    "a log is gone": (entry(lambda e, log: e.pop(log)), "log missing"),
    "a byte of a log is another": (
        entry(lambda e, log: e.update({log: e[log].replace(b"1.0", b"0.0", 1)})), "log changed"),
    "a byte is appended to a log": (entry(lambda e, log: e.update({log: e[log] + b"x"})), "log changed"),
    "a log has another name": (entry(lambda e, log: e.update({log + "x": e.pop(log)})), "log missing"),
    "two logs change places": (entry(swapped), "log changed"),
    "a better log with a later name lies beside": (
        entry(lambda e, log: e.update({"logs/one/2027-01-01_b.eval": e[log]})), "log unnamed"),
    "a copy with an earlier name lies beside": (
        entry(lambda e, log: e.update({"logs/one/2020-01-01_b.eval": e[log]})), "log unnamed"),
    "a file lies in it that leads elsewhere": (entry(lambda e, log: e.update({"../../evil": b"x"})), "log unnamed"),
    "the trial has the name of another": (manifest(lambda m: m.update(trials=["best"])), "trial missing"),
    "an entry stands twice": (twice, "not a bundle"),
    "it is cut in the middle": (raw(lambda data: data[: len(data) // 2]), "not a bundle"),
    "something stands before it": (raw(lambda data: b"#!/bin/sh\n" + data), "not a bundle"),
    "something stands behind it": (raw(lambda data: data + b"more"), "not a bundle"),
    "a bomb is in it": (deflated, "not a bundle"),
    "what an attempt left is another": (
        lambda b, p: b.entries.update({b.work: b"def total(n): return 6\n"}), "work changed"),
    "what an attempt left is gone": (lambda b, p: (b.entries.pop(b.work), None)[1], "work missing"),
    "what no attempt left lies beside it": (
        lambda b, p: b.entries.update({f"works/{'0' * 64}": b"x"}), "log unnamed"),
    "two attempts change what they left": (lambda b, p: swapped(b.entries, "", "works/"), "work changed"),
    # What follows is done by somebody who holds the key: a signature says who, not that it is true.
    "the plan names another oracle than the attempts": (replan(oracles={"sum": "9" * 64}), "not as planned"),
    "the plan names another grader": (replan(environment={"grader": "9" * 64}), "not as planned"),
    "the plan names another model": (replan(model="better"), "not as planned"),
    "more attempts than were planned": (added(number=4), "not as planned"),
    "an attempt is not in the log": (
        lambda b, p: rewritten(b, lambda e: flip(e) if getattr(e, "epoch", 0) == 2 else e, p.true), "log changed"),
    "a verdict with two faces": (doubled_field, "edited"),
    "the plan is gone": (lambda b, p: (b.chain(b.events[1:]), b.sign(p.true)), "trial missing"),
    "a failed attempt is called an anchor": (lied(2, anchor=True), "log changed"),
    "an attempt is of another kind": (lied(1, kind="harder"), "log changed"),
    "an attempt was made under another framing": (lied(2, arm="social_standings"), "not as planned|log changed"),
    "an attempt and its plan name another framing": (
        lambda b, p: rewritten(b, lambda e: e.model_copy(update={"arm": "social_standings"})
                               if hasattr(e, "arm") else e, p.true), "log changed"),
    "attempts and plan name another oracle": (everywhere("2" * 64, "9" * 64), "log changed"),
    "attempts and plan name another puzzle": (everywhere("1" * 64, "9" * 64), "log changed"),
    "a failed attempt has no verdict": (lied(2, passed=None), "log changed"),
    "an attempt that the log has is left out": (
        lambda b, p: (b.chain([e for e in b.events if getattr(e, "epoch", 0) != 2]), b.sign(p.true)),
        "log changed"),
    "an attempt is told under another number": (lied(2, epoch=3), "log changed"),
    "fewer attempts were planned": (replan(k=2), "not as planned"),
    "other words are said to be those that all was drawn from": (replan(nonce="mine"), "not as planned"),
    "other puzzles were planned": (replan(puzzles={"other": "1" * 64}), "not as planned"),
    "the log that the ledger names is another": (
        lambda b, p: rewritten(b, lambda e: e.model_copy(update={"sha256": "9" * 64})
                               if isinstance(e, TrialLogged) else e, p.true), "log changed"),
    "the log is said to lie elsewhere": (
        lambda b, p: rewritten(b, lambda e: e.model_copy(update={"log": "logs/one/other.eval"})
                               if isinstance(e, TrialLogged) and e.trial == "one" else e, p.true), "log missing"),
    "a trial is never logged": (
        lambda b, p: (b.chain([e for e in b.events if not isinstance(e, TrialLogged)]), b.sign(p.true)),
        "trial missing"),
    "an attempt is made by another model": (lied(1, model="worse"), "not as planned"),
    "an attempt rests on another box": (lied(1, environment="9" * 64), "not as planned"),
    "an attempt is said to have left what another left": (
        lambda b, p: lied(2, work=next(e.work for e in b.events if isinstance(e, AttemptGraded)))(b, p), "log changed"),
    "what an attempt left is named by no digest": (lied(2, work={"total.py": "100644 ../../evil"}), "edited"),
    "an attempt is said to have left nothing that was kept": (lied(2, work=None), "log changed|log unnamed"),
}  # fmt: skip

#: What no signature can show, and the docs say so.
OUT_OF_REACH = {
    "an older bundle is shown as the newest": "as of",
    "who holds the key, where nobody says which key": "nobody has said",
    "trials in another workshop, with another ledger": "another folder",
    "a dishonest provider or machine": "machine",
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench.at(tmp_path / "bench")
    bench.trial("one", "p.p")
    bench.trial("two", "...")
    return bench


def judged(bench: Bench, tmp_path: Path, forge: Forgery) -> BundleVerification:
    bundle = Opened.of(bench.bundle("one", "two"))
    path = tmp_path / "forged.assay"
    made = forge(bundle, Place(tmp_path, bench, path))
    if isinstance(made, bytes):
        path.write_bytes(made)
    else:
        bundle.write(path)
    return verify_bundle(path, bench.shop.ledger.signer.public_key)


@pytest.mark.parametrize(("forge", "kinds"), FORGERIES.values(), ids=FORGERIES)
def test_every_forgery_is_found(bench: Bench, tmp_path: Path, forge: Forgery, kinds: str) -> None:
    found = [finding.kind for finding in judged(bench, tmp_path, forge).findings]
    assert set(found) & set(kinds.split("|")), found


def test_no_byte_of_a_bundle_can_be_another(bench: Bench) -> None:
    path = bench.bundle("one", "two")
    data = path.read_bytes()
    places = {*range(60), *range(len(data) - 200, len(data)), *range(0, len(data), len(data) // 150)}
    missed = list[int]()
    for place in sorted(places):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if verify_bundle(path).ok:
            missed.append(place)
    assert not missed


def test_there_are_sixty_and_the_others_are_named_in_the_docs() -> None:
    docs = (Path(__file__).parents[2] / "docs/ai-crucible.md").read_text(encoding="utf-8")
    assert len(FORGERIES) >= 60
    for words in OUT_OF_REACH.values():
        assert words in docs.partition("## What no signature can show")[2]


def test_a_bundle_proves_itself_without_any_configuration(bench: Bench, tmp_path: Path) -> None:
    path = bench.bundle("one")
    key = bench.shop.ledger.signer.public_key
    moved = tmp_path / "elsewhere.assay"
    shutil.move(path, moved)
    shutil.rmtree(bench.shop.folder)
    shutil.rmtree(bench.shop.ledger.anchors)
    result = verify_bundle(moved, key)
    assert result.ok and result.key == key.hex() and verify_bundle(moved).ok
    trial, other = result.trials
    assert (trial.passed, trial.failed, trial.died, trial.without, trial.k) == (2, 1, 0, 0, 3)
    assert trial.rests_on["oracle of sum"] == "2" * 64 and trial.rests_on["grader"] == "c" * 64
    assert (other.trial, other.here, other.failed) == ("two", False, 3)
    assert [finding.kind for finding in verify_bundle(moved, bytes(32)).findings] == ["bad signature"]


def test_a_comparison_is_bundled_whole_or_not_at_all(bench: Bench, tmp_path: Path) -> None:
    bench.compare("one", "two")
    with pytest.raises(ConfigurationError, match="one was compared with two; name all of them"):
        bench.bundle("one")
    whole = Opened.of(bench.bundle("one", "two"))
    whole.manifest = {**whole.manifest, "trials": ["one"]}
    del whole.entries["logs/two/2026-01-01_a.eval"]
    (finding,) = verify_bundle(whole.write(tmp_path / "half.assay")).findings
    assert (finding.kind, finding.detail) == ("comparison cut", "one was compared with two")


def test_attempts_that_died_are_told_of_every_sitting(bench: Bench) -> None:
    begun = [AttemptBegun(trial="three", puzzle="sum", epoch=1, sample=f"s{number}") for number in range(3)]
    bench.shop.ledger.append(begun)
    bench.trial("three", "pxx", redraws=1)
    trial = bench.shop.attested()["three"]
    assert trial.spent == {("sum", 1)}
    figures = figures_of(trial, here=True)
    assert figures and (figures.passed, figures.failed, figures.died, figures.without) == (1, 0, 3, 2)
    bench.shop.ledger.append([AttemptWitnessed(trial="three", sample="s1", score_digest="0" * 64)])
    assert len(bench.shop.attested()["three"].died) == 2
    # What was graded, went with a killed sitting and was made again until it passed, was drawn anew as well.
    bench.shop.ledger.append([AttemptWitnessed(trial="three", sample="s2", score_digest="0" * 64)])
    assert [one.sample for one in bench.shop.attested()["three"].died if isinstance(one, AttemptBegun)] == ["s0", "s1"]
    bench.trial("before", "pxx")
    before = bench.shop.attested()["before"]
    assert before.spent == set() and len(before.died) == 2


def test_the_same_trials_make_the_same_bytes(bench: Bench) -> None:
    first = bench.bundle("one").read_bytes()
    assert bench.bundle("one").read_bytes() == first


def test_what_does_not_verify_is_not_bundled(bench: Bench) -> None:
    log = bench.shop.folder / "logs/one/2026-01-01_a.eval"
    log.write_bytes(log.read_bytes() + b"x")
    with pytest.raises(StoreDamaged, match="log changed"):
        bench.bundle("one")


# --- the folder itself ---------------------------------------------------------------------------------------


def test_a_forged_log_with_a_later_name_is_found_and_counts_nothing(bench: Bench) -> None:
    forged = [Bench.attempt("one", number, True) for number in (1, 2, 3)]
    log_of(bench.shop.folder / "logs/one/2027-01-01_z.eval", forged)
    verification = bench.shop.verify()
    assert [finding.kind for finding in verification.findings] == ["log unnamed"]
    trial = bench.shop.attested()["one"]
    place = trial.place(bench.shop.folder)
    assert place is not None and place.name == "2026-01-01_a.eval"
    assert [event.passed for event in trial.graded.values()] == [True, False, True]


def test_what_a_killed_sitting_leaves_is_told_and_no_forgery(bench: Bench) -> None:
    log_of(bench.shop.folder / "logs/one/2025-01-01_a.eval", [])
    verification = bench.shop.verify()
    assert verification.ok and "logs/one/2025-01-01_a.eval" in verification.remarks[0]
    log_of(bench.shop.folder / "logs/nobody/2025-01-01_a.eval", [])
    assert [finding.kind for finding in bench.shop.verify().findings] == ["log unnamed"]


def test_attempts_at_another_version_never_mix(bench: Bench) -> None:
    catalog = bench.shop.catalog
    from ai_crucible.events import PuzzleAdmitted

    bench.shop.ledger.append([PuzzleAdmitted(puzzle="sum", kind="k", digest="1" * 64, oracle_digest="2" * 64)])
    bench.trial("three", "pp")
    assert catalog().entries["sum"].attempts == 2
    changed = [Bench.attempt("four", n, True, oracle_digest="3" * 64) for n in (1, 2, 3)]
    bench.shop.ledger.append(changed)
    assert catalog().entries["sum"].attempts == 2
    bench.shop.ledger.append([Bench.attempt("five", 1, False, environment="4" * 64)])
    entry = catalog().entries["sum"]
    assert (entry.attempts, entry.passed) == (1, 0)


def test_a_log_is_named_by_its_last_sitting(bench: Bench) -> None:
    first, _, third = bench.shop.attested()["one"].graded.values()
    again = Bench.attempt("one", 2, True)
    path = log_of(bench.shop.folder / "logs/one/2026-02-01_a.eval", [first, again, third])
    events = [again, bench.logged("one", path)]
    assert isinstance(events[1], TrialLogged)
    bench.shop.ledger.append(events)
    result = verify_bundle(bench.bundle("one"))
    assert result.ok and result.trials[0].passed == 3


def test_what_died_in_an_earlier_sitting_need_not_stand_in_the_last_log(bench: Bench) -> None:
    bench.trial("three", "px.")
    first, _, third = bench.shop.attested()["three"].graded.values()
    place = bench.shop.folder / "logs/three"
    bench.shop.ledger.append([bench.logged("three", log_of(place / "2026-02-01_a.eval", [first, third]))])
    result = verify_bundle(bench.bundle("three"))
    told = result.trials[-1]
    assert result.ok and (told.passed, told.failed, told.died, told.without) == (1, 1, 1, 1)
    bench.shop.ledger.append([bench.logged("three", log_of(place / "2026-02-02_a.eval", [first]))])
    (finding,) = verify_bundle(bench.bundle("three")).findings
    assert str(finding) == "log changed: sum, attempt 3: the ledger and the log disagree"


def test_a_workshop_that_was_copied_makes_the_same_bundle(bench: Bench, tmp_path: Path) -> None:
    made = make_bundle(bench.shop, ["one"], tmp_path / "a.assay")
    assert isinstance(bench.shop, Workshop) and verify_bundle(made).ok
