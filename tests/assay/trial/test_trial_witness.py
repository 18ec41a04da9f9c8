"""`assay trial bundle --witness`: an authority stamps the head, and `verify --witness-ca` checks that it did."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.bundled import Bench

from ai_crucible import witness
from ai_crucible.bundle import make_bundle

pytest.importorskip("rfc3161_client", reason="rfc3161-client is not installed; make test installs it")
from tests.assay.trial.tsa import Authority, serving

pytestmark = pytest.mark.needs("openssl")
Assay = Any


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A workshop where ``assay`` looks for it, with a finished trial."""
    (tmp_path / "config" / "ai_crucible").mkdir(parents=True)
    (tmp_path / "config" / "ai_crucible" / "anchors").symlink_to(tmp_path / "anchors")
    bench = Bench.at(tmp_path)
    bench.trial("one", "pp.")
    return bench


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "tsa")


def bundle(bench: Bench, authority: Authority, out: Path) -> Path:
    with serving(authority.stamp) as url:
        return make_bundle(bench.shop, ["one"], out, lambda head: witness.ask_witness(url, head))


async def test_a_stamp_is_kept_and_led_back_to_its_authority(
    assay: Assay, bench: Bench, authority: Authority, tmp_path: Path
) -> None:
    bundle(bench, authority, tmp_path / "t.assay")
    done = await assay("trial", "verify", "t.assay")
    assert done.code == 0 and "by CN=Clock of tests; nobody has said whom to trust" in done.out
    done = await assay("trial", "verify", "t.assay", "--witness-ca", "tsa/ca.pem", "--json")
    data = json.loads(done.out)
    assert done.code == 0 and data["stamp"]["trusted"] and data["stamp"]["by"] == "CN=Clock of tests"
    other = Authority(tmp_path / "other")
    done = await assay("trial", "verify", "t.assay", "--witness-ca", str(other.ca))
    assert done.code == 1 and "bad time stamp: it does not lead to an authority" in done.out
    assert len(done.out.splitlines()) == 1


async def test_a_stamp_of_something_else_or_a_cut_one_is_found(
    assay: Assay, bench: Bench, authority: Authority, tmp_path: Path
) -> None:
    bundle(bench, authority, tmp_path / "t.assay")
    with zipfile.ZipFile(tmp_path / "t.assay") as archive:
        stamp = archive.read("witness.tsr")
    bench.trial("two", "p")  # another head
    for old, says in ((stamp, "a time stamp of something else"), (stamp[:200], "cut off"), (b"", "no time stamp")):
        make_bundle(bench.shop, ["one"], tmp_path / "u.assay", lambda head, old=old: old)
        done = await assay("trial", "verify", "u.assay", "--witness-ca", "tsa/ca.pem")
        assert done.code == 1 and says in done.out and len(done.out.splitlines()) == 1, done.out


@pytest.mark.parametrize(
    ("answer", "says"),
    [(500, "answered with 500"), (b"<html>", "cut off, or no time stamp"), (b"x" * (2 << 20), "does not end")],
)
async def test_a_witness_that_stamps_nothing_is_one_line_and_nothing_is_written(
    assay: Assay, bench: Bench, tmp_path: Path, answer: bytes | int, says: str
) -> None:
    with serving(lambda query: answer) as url:
        done = await assay(
            "trial", "bundle", "one", "--witness", url, ASSAY_SIGNING_KEY=str(tmp_path / "keys/signing.key")
        )
    assert done.code == 4 and says in done.err and len(done.err.splitlines()) == 1, done.err
    assert not (tmp_path / "trial.assay").exists()


def test_an_authority_that_hangs_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    monkeypatch.setattr(witness, "_PATIENCE_S", 0.2)
    held, head = threading.Event(), bench.shop.ledger.head()
    assert head is not None

    def hang(query: bytes) -> int:
        held.wait(30)
        return 200

    with serving(hang) as url:
        with pytest.raises(witness.WitnessFailed, match="did not answer: timed out; nothing was written"):
            witness.ask_witness(url, head)
        held.set()
