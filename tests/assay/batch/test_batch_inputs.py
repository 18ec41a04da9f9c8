"""Rows of any source, and the jobs they become: in order, in constant memory, a broken row as one broken job."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.batch.batches import enter
from assay.batch.configurations import Configuration, combinations
from assay.batch.inputs import rows
from assay.batch.jobfile import Input, JobFile
from assay.batch.jobs import Contents, Job, complete, jobs
from assay.batch.ledger import Ledger
from assay.batch.loading import load_job_file
from assay.batch.schema import migrate
from llm_runtime.errors import ConfigurationError
from llm_runtime.store.database import SqliteDatabase


def source(path: Path, column: str = "question") -> Input:
    return Input(path=path, columns={"query": column})


def of(path: Path, **fields: object) -> JobFile:
    return JobFile.model_validate({"run": "crucible.council", "input": source(path), **fields})


def whole(job_file: JobFile) -> list[Configuration]:
    return complete(job_file, list(combinations(job_file)))


def made(job_file: JobFile) -> list[Job]:
    return list(jobs(job_file, whole(job_file)))


def test_the_same_rows_come_out_of_every_format(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,question\n1,"Why, though?"\n2,Wie heißt das?\n', encoding="utf-8")
    (tmp_path / "a.jsonl").write_text('{"question": "Why, though?"}\n\n{"question": "Wie heißt das?"}\n', "utf-8")
    expected = [(1, {"question": "Why, though?"}), (2, {"question": "Wie heißt das?"})]
    for name in ("a.csv", "a.jsonl"):
        assert [(row.number, row.values) for row in rows(source(tmp_path / name))] == expected
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "1.txt").write_text("Why, though?")
    assert [row.values for row in rows(source(folder, "text"))] == [{"text": "Why, though?"}]
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist([values for _, values in expected]), tmp_path / "a.parquet")
    assert [(row.number, row.values) for row in rows(source(tmp_path / "a.parquet"))] == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id;question;Preis, EUR\r\n1;Warum? Ja, so;1,5\r\n"),
        ("a.csv", "id\tquestion\r\n1\tWarum? Ja, so\r\n"),
        ("a.tsv", "question\nWarum? Ja, so\n"),
        ("a.csv", '"id, or none",question\r\n1,"Warum? Ja, so"\r\n'),
        ("a.csv", '\r\n \r\nquestion,,\r\n"Warum? Ja, so",,\r\n'),
        ("a.csv", 'question,note,note\n"Warum? Ja, so",a,b\n'),
        ("a.jsonl", '\ufeff{"question": "Warum? Ja, so"}\r\n'),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert [(row.values, row.fault) for row in rows(source(tmp_path / name))] == [({"question": "Warum? Ja, so"}, "")]


def test_a_table_of_another_encoding_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("question\r\nWhy?\r\n".encode("utf-16"))
    with pytest.raises(ConfigurationError, match="not UTF-8; save it as CSV UTF-8"):
        list(rows(source(tmp_path / "a.csv")))


def test_a_broken_row_is_one_broken_job(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"question": "a"}\n{"question": \n[1]\n\xff\n{"question": 5}\n{"question": "b"}\n')
    entered = made(of(path))
    assert [job.fault != "" for job in entered] == [False, True, True, True, True, False]
    assert len({job.job_id for job in entered}) == 6
    assert entered[4].fault == "a.jsonl: row 5: query: Input should be a valid string"
    assert entered[1].fault == "a.jsonl: row 2: not JSON: Expecting value: line 2 column 1 (char 14)"


@pytest.mark.parametrize(("name", "text"), [("a.csv", "id,topic\n1,x\n"), ("a.jsonl", '{"topic": "x"}\n')])
def test_an_unknown_column_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError, match=r"no column 'question'.*topic"):
        list(rows(source(tmp_path / name)))


def test_a_job_is_its_task_configuration_and_repetition(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("note,question\nx,a\ny,b\n")
    before = [job.job_id for job in made(of(path, repetitions=2))]
    path.write_text("note,question\nCHANGED,b\n")
    assert [job.job_id for job in made(of(path, repetitions=2))] == before[2:]
    assert not set(before) & {job.job_id for job in made(of(path, repetitions=2, grid={"delta": ["similarity"]}))}


MEMORY = """
import sys
from pathlib import Path
from assay.batch.inputs import rows
from assay.batch.jobfile import Input
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
def read(name):
    source = Input(path=Path(name), columns={"query": "question"})
    return [row.number for row in rows(source) if row.fault]
read("short.jsonl")
before = peak()
print(read("long.jsonl"), peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("lines", [250_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_of_many_lines_one_is_broken_and_memory_stays(tmp_path: Path, lines: int) -> None:
    line = '{"question": "How many of these are there?"}\n'
    (tmp_path / "short.jsonl").write_text(line * 1000)
    (tmp_path / "long.jsonl").write_text(line * (lines // 2) + '{"question": \n' + line * (lines // 2 - 1))
    done = subprocess.run([sys.executable, "-c", MEMORY], cwd=tmp_path, check=True, capture_output=True, text=True)
    broken, _, grown = done.stdout.rpartition(" ")
    assert broken == f"[{lines // 2 + 1}]"
    assert int(grown) < 4096  # KiB; the files have 11 and 45 MiB


def test_jobs_pass_by_in_constant_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"question": "question {number}"}}\n' for number in range(2_500)))
    contents = Contents(jobs(of(path), whole(of(path))))
    tracemalloc.start()
    contents.digest()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert contents.count == 2_500
    assert peak < 2**20


def test_a_quote_that_does_not_close_names_the_lines_it_swallowed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('question\nfine\n"open\nswallowed\n"x"y\nfine again\n')
    read = list(rows(source(path)))
    assert [row.values.get("question") for row in read if not row.fault] == ["fine", "fine again"]
    [broken] = [row for row in read if row.fault]
    assert "lines 3 to 5" in broken.fault


def test_an_input_that_changes_while_it_is_read_enters_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question\na\n")

    class Changing(SqliteDatabase):
        def execute(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
            if sql.startswith("INSERT INTO batches"):
                path.write_text("question\nb\n")
            return super().execute(sql, values)

    database = Changing(tmp_path / "batches.db")
    migrate(database)
    with pytest.raises(ConfigurationError, match="changed while it was read"):
        enter(database, of(path), whole(of(path)))
    assert Ledger(database).batches() == []
    assert database.execute("SELECT count(*) FROM jobs") == [(0,)]
    database.close()


def test_the_example_in_the_docs_is_a_job_file() -> None:
    example = load_job_file(Path(__file__).parents[3] / "docs" / "batch-example.toml")
    entered = made(example)
    assert len(entered) == 3 * 2 * 3
    assert not any(job.fault for job in entered)
    assert example.budget.caps.cost == 5_000_000
