"""A run leaves as a file and comes back as it was; a file that is not one changes nothing."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extent import examples

from llm_runtime.errors import ConfigurationError, RunNotFound, StoreDamaged, StoreError
from llm_runtime.events import GENESIS, RunStarted, UnknownEvent, chain_digest
from llm_runtime.store import SqliteStore
from llm_runtime.store.anchor import Head
from llm_runtime.store.signing import KeySigner
from llm_runtime.store.transfer import ImportLimits, export_run, import_run
from llm_runtime.store.verify import verify


def exported(store: SqliteStore, run_id: str) -> bytes:
    out = io.BytesIO()
    export_run(store, run_id, out)
    return out.getvalue()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store on another machine, with a key of its own."""
    with closing(SqliteStore(tmp_path / "elsewhere" / "runs.db")) as other:
        yield other


def test_a_run_arrives_as_it_left(store: SqliteStore, elsewhere: SqliteStore, finished_run: str) -> None:
    file = exported(store, finished_run)

    assert import_run(elsewhere, io.BytesIO(file)) == finished_run

    assert list(elsewhere.records(finished_run)) == list(store.records(finished_run))
    assert elsewhere.summary(finished_run) == store.summary(finished_run)


def test_a_run_comes_back_to_its_store_and_is_vouched_for(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str
) -> None:
    import_run(elsewhere, io.BytesIO(exported(store, finished_run)))
    store.delete(finished_run)

    import_run(store, io.BytesIO(exported(elsewhere, finished_run)))

    verification = verify(store, finished_run)
    assert verification.ok and verification.anchored == 12


def test_a_run_that_another_key_signed_is_intact_and_not_vouched_for(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str
) -> None:
    file = exported(store, finished_run)
    import_run(elsewhere, io.BytesIO(file))
    import_run(elsewhere, io.BytesIO(file), as_id="renamed")
    key = store.heads.signer.public_key.hex()

    for run_id in (finished_run, "renamed"):
        verification = verify(elsewhere, run_id)
        assert (verification.ok, verification.intact, verification.anchored) == (False, True, 0)
        assert verification.other_key == key
        assert [finding.kind for finding in verification.findings] == ["unanchored"]
        assert key[:8] in verification.findings[0].detail
    # under another name the signature is not over the name, and no longer travels with the run
    assert json.loads(exported(elsewhere, "renamed").split(b"\n")[0])["head"] is None


def test_a_run_that_another_key_signed_is_taken_as_ones_own_where_that_is_said(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str
) -> None:
    import_run(elsewhere, io.BytesIO(exported(store, finished_run)), trust=True)
    assert verify(elsewhere, finished_run).ok


def test_a_forgery_signed_by_a_stranger_is_never_vouched_for(
    store: SqliteStore, elsewhere: SqliteStore, tmp_path: Path, finished_run: str
) -> None:
    header, *lines = rewritten(exported(store, finished_run)).splitlines(keepends=True)
    stranger = KeySigner(tmp_path / "stranger.key")
    last = bytes.fromhex(json.loads(lines[-1])["digest"])
    head = stranger.sign(Head(finished_run, len(lines), last)).to_dict()
    store.delete(finished_run)

    for target in (store, elsewhere):
        import_run(target, io.BytesIO(header_with(header + b"".join(lines), head=head)))

        verification = verify(target, finished_run)
        assert not verification.ok and verification.anchored == 0
        assert stranger.public_key.hex()[:8] in str(verification.findings[0])


def test_what_changes_after_the_import_is_noticed_all_the_same(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str
) -> None:
    import_run(elsewhere, io.BytesIO(exported(store, finished_run)))
    with closing(sqlite3.connect(elsewhere.path)) as connection, connection:
        connection.execute("DELETE FROM records WHERE seq = 12")
    kinds = {finding.kind for finding in verify(elsewhere, finished_run).findings}
    assert kinds == {"unanchored", "lost"}


def test_an_import_that_is_refused_leaves_the_head_of_the_run_that_is_there(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str
) -> None:
    import_run(elsewhere, io.BytesIO(exported(store, finished_run)), trust=True)
    with pytest.raises(StoreError, match="already"):
        import_run(elsewhere, io.BytesIO(exported(store, finished_run)))
    assert verify(elsewhere, finished_run).ok


def test_a_duplicate_is_refused_or_takes_a_new_id(store: SqliteStore, finished_run: str) -> None:
    file = exported(store, finished_run)
    with pytest.raises(StoreError, match="already"):
        import_run(store, io.BytesIO(file))

    assert import_run(store, io.BytesIO(file), as_id="copy") == "copy"

    assert store.summary("copy") == replace(store.summary(finished_run), run_id="copy")
    assert verify(store, "copy").ok and verify(store, finished_run).ok
    with pytest.raises(ConfigurationError, match="not a run id"):
        import_run(store, io.BytesIO(file), as_id="../copy")


def test_an_unsigned_run_stays_unsigned(
    store: SqliteStore, elsewhere: SqliteStore, started: Callable[..., RunStarted]
) -> None:
    log = store.start(started())
    file = exported(store, "run-1")
    log.close()
    import_run(elsewhere, io.BytesIO(file))
    assert [finding.kind for finding in verify(elsewhere, "run-1").findings] == ["unanchored"]
    assert elsewhere.summary("run-1").state == "interrupted"


def test_each_line_is_json_that_other_programs_read(store: SqliteStore, finished_run: str) -> None:
    header, *records = [json.loads(line) for line in exported(store, finished_run).splitlines()]
    assert header["format"] == "assay-run" and header["records"] == len(records) == 12
    assert [record["body"]["type"] for record in records[:3]] == ["run.started", "call.started", "call.finished"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=examples(40))
@given(contents=st.lists(json_values, max_size=5))
def test_whatever_events_hold_arrives_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, contents: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("transfer")
    with closing(SqliteStore(folder / "a" / "runs.db")) as here, closing(SqliteStore(folder / "b" / "r.db")) as there:
        log = here.start(RunStarted(run_id="r", protocol="p", title="t", task={}, settings={}, seed=0))
        for content in contents:
            try:
                log.emit(UnknownEvent(name="any", data={"content": content}))
            except ValueError:
                continue  # infinities and lone surrogates are refused where they are emitted
        log.close()
        import_run(there, io.BytesIO(exported(here, "r")))
        assert [r.body for r in there.records("r")] == [r.body for r in here.records("r")]
        assert verify(there, "r").intact


def change(file: bytes, line: int, old: bytes, new: bytes) -> bytes:
    lines = file.splitlines(keepends=True)
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new)
    return b"".join(lines)


def header_with(file: bytes, **fields: Any) -> bytes:
    first, rest = file.split(b"\n", 1)
    return json.dumps(json.loads(first) | fields).encode() + b"\n" + rest


def chained(bodies: Iterable[bytes]) -> Iterator[bytes]:
    """Record lines with a chain that holds, whatever the bodies say: anybody can compute one."""
    previous = GENESIS
    for seq, body in enumerate(bodies, start=1):
        previous = chain_digest(previous, seq, 0, body)
        yield b'{"seq":%d,"at":0,"digest":"%s","body":%s}\n' % (seq, previous.hex().encode(), body)


def rewritten(file: bytes) -> bytes:
    """Other answers in a chain computed anew, under the head of the run as it was."""
    header, *lines = file.splitlines(keepends=True)
    bodies = (line.split(b'"body":', 1)[1].strip()[:-1].replace(b"an answer", b"a lie") for line in lines)
    return header + b"".join(chained(bodies))


def test_an_editor_that_ends_lines_otherwise_changes_no_run(store: SqliteStore, finished_run: str) -> None:
    file = b"\xef\xbb\xbf" + exported(store, finished_run).replace(b"\n", b"\r\n")
    assert import_run(store, io.BytesIO(file), as_id="again") == "again"
    assert [one.body for one in store.records("again")] == [one.body for one in store.records(finished_run)]


DEEP = b"[" * 1_000_000
HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda f: b"",
    "not JSON": lambda f: b"\x7fELF" + f,
    "another JSON": lambda f: b"[1, 2]\n" + f,
    "a number": lambda f: b"7",
    "cut within a line": lambda f: f[: len(f) * 2 // 3],
    "cut between lines": lambda f: b"".join(f.splitlines(keepends=True)[:-1]),
    "only a header": lambda f: f.splitlines(keepends=True)[0],
    "more than announced": lambda f: f + f.splitlines(keepends=True)[-1],
    "trailing rubbish": lambda f: f + b"\n",
    "an edited body": lambda f: change(f, 5, b"an answer", b"my answer"),
    "a chain computed anew": rewritten,
    "an edited time": lambda f: change(f, 5, b'"at":', b'"at":1'),
    "two lines swapped": lambda f: b"".join(f.splitlines(keepends=True)[i] for i in (0, 2, 1, *range(3, 13))),
    "a record twice": lambda f: b"".join(f.splitlines(keepends=True)[i] for i in (0, 1, 2, 2, *range(4, 13))),
    "no digest": lambda f: change(f, 3, b'"digest"', b'"Digest"'),
    "a huge number": lambda f: change(f, 3, b'"seq":3', b'"seq":' + b"9" * 5000),
    "a giant line": lambda f: f.replace(b"an answer", b"a" * 2_000_000),
    "a giant header": lambda f: b'{"format":"assay-run","x":"' + b"x" * 1_000_000 + b'"}\n' + f,
    "deep nesting": lambda f: change(f, 3, b'"body":{', b'"body":{"a":' + DEEP),
    "a deep header": lambda f: b'{"format":' + DEEP[:60_000] + b"\n" + f,
    "another version": lambda f: header_with(f, version=2),
    "a version of another type": lambda f: header_with(f, version=["\x1b[2J" * 1000]),
    "a path as id": lambda f: header_with(f, run_id="../../etc/cron.d/x"),
    "an absolute path as id": lambda f: header_with(f, run_id="/etc/passwd"),
    "an id with a control character": lambda f: header_with(f, run_id="a\x1b[2J\n"),
    "an id of another type": lambda f: header_with(f, run_id={"a": 1}),
    "another id than the signed one": lambda f: header_with(f, run_id="other"),
    "no records": lambda f: header_with(f, records=0),
    "records below none": lambda f: header_with(f, records=-1),
    "too many records": lambda f: header_with(f, records=10**12),
    "records of another type": lambda f: header_with(f, records="12"),
    "records true": lambda f: header_with(f, records=True),
    "a head of another type": lambda f: header_with(f, head=[1]),
    "an empty head": lambda f: header_with(f, head={}),
    "a head that nobody signed": lambda f: change(f, 0, b'"signature":"', b'"signature":"00'),
    "a head with a flipped signature": lambda f: header_with(
        f, head=json.loads(f.split(b"\n")[0])["head"] | {"signature": "00" * 64}
    ),
    "a head beyond the end": lambda f: header_with(f, head=json.loads(f.split(b"\n")[0])["head"] | {"length": 10**9}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_changes_nothing_and_gives_one_line(
    store: SqliteStore, elsewhere: SqliteStore, finished_run: str, name: str
) -> None:
    file = HOSTILE[name](exported(store, finished_run))
    folder = elsewhere.path.parent
    before = sorted(path.relative_to(folder) for path in folder.rglob("*"))

    with pytest.raises(StoreDamaged) as caught:
        import_run(elsewhere, io.BytesIO(file), limits=ImportLimits(line_bytes=1_500_000))

    message = str(caught.value)
    assert message.startswith("the file is refused: line ") and message.isprintable() and len(message) < 300
    assert elsewhere.runs() == []
    assert sorted(path.relative_to(folder) for path in folder.rglob("*")) == before


def test_a_file_over_the_size_cap_is_refused(store: SqliteStore, elsewhere: SqliteStore, finished_run: str) -> None:
    file = exported(store, finished_run)
    with pytest.raises(StoreDamaged, match="larger than 2000 bytes"):
        import_run(elsewhere, io.BytesIO(file), limits=ImportLimits(total_bytes=2000))
    assert elsewhere.runs() == []


def forged(*bodies: bytes) -> bytes:
    """A whole file, unsigned, with whatever bodies."""
    header = b'{"format":"assay-run","version":1,"run_id":"r","records":%d,"head":null}\n' % len(bodies)
    return header + b"".join(chained(bodies))


OPENING = (
    b'{"forked_at":0,"origin":"live","parent":"","protocol":"p","run_id":"r","seed":1,"settings":{},'
    b'"task":{},"title":"t","type":"run.started","version":""}'
)


@pytest.mark.parametrize(
    "bodies",
    [
        (b'{"type":"x"}',),
        (OPENING.replace(b'"seed":1', b'"seed":"one"'),),
        (OPENING.replace(b'"title":"t"', b'"title":["t"]'),),
        (OPENING.replace(b'"task":{}', b'"task":{},"t\\u001b[2Jask2":{}'),),
        (OPENING, b'{"a":NaN,"type":"x"}'),
        (OPENING, b'{"a":"\\ud800","type":"x"}'),
        (OPENING, b'{"a":' + b"[" * 300 + b"]" * 300 + b',"type":"x"}'),
        (OPENING, b'{"digest":"d","occurrence":1,"replayed":false,"reply":{},"type":"call.finished"}'),
        (
            OPENING,
            b'{"digest":"d","occurrence":1,"replayed":false,"reply":{"cost":"1","usage":{"input_tokens":1,'
            b'"output_tokens":-1}},"type":"call.finished"}',
        ),
    ],
)
def test_a_forged_log_with_unfit_events_is_refused(elsewhere: SqliteStore, bodies: tuple[bytes, ...]) -> None:
    with pytest.raises(StoreDamaged) as caught:
        import_run(elsewhere, io.BytesIO(forged(*bodies)))
    assert str(caught.value).isprintable() and len(str(caught.value)) < 300
    assert elsewhere.runs() == []


def test_a_forged_log_of_fit_events_is_taken_and_nobody_vouches_for_it(elsewhere: SqliteStore) -> None:
    import_run(elsewhere, io.BytesIO(forged(OPENING, b'{"type":"of.a.later.version"}')))
    assert [finding.kind for finding in verify(elsewhere, "r").findings] == ["unanchored"]


@settings(max_examples=examples(80))
@given(data=st.data())
def test_any_damage_is_refused_or_harmless(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    whole = forged(OPENING, b'{"a":[1,2],"type":"x"}', b'{"a":"text","type":"x"}')
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + data.draw(st.integers(0, 3)) :]
    folder = tmp_path_factory.mktemp("damage")
    with closing(SqliteStore(folder / "runs.db")) as store:
        try:
            run_id = import_run(store, io.BytesIO(damaged))
        except StoreDamaged:
            assert store.runs() == []
            with pytest.raises(RunNotFound):
                store.summary("r")
        else:
            assert verify(store, run_id).intact
