"""A folder as a model: who asks, who answers, and what may lie in between."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.extent import PATIENCE, examples

from llm_runtime.errors import (
    CallError,
    ConnectionFailed,
    EmptyReply,
    LlmRuntimeError,
    MalformedReply,
    ReplyTooLarge,
    RequestRefused,
)
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.providers import mailbox as mailbox_module
from llm_runtime.providers.mailbox import mailbox

REQUEST = Request("a-person", (Message("user", "What now?"),), CallLabel("crucible", "position", "1:pragmatist"))
STEM = "0001-crucible-position-1-pragmatist-0-1"
POLL = 0.001


async def ask(folder: Path | Generate, request: Request = REQUEST) -> Reply:
    generate = mailbox(folder, poll=POLL) if isinstance(folder, Path) else folder
    async with asyncio.timeout(PATIENCE):
        return await generate(request)


async def appears(path: Path) -> Path:
    async with asyncio.timeout(PATIENCE):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - a file has no event to wait for
            await asyncio.sleep(POLL)
    return path


async def answered(folder: Path, name: str, content: str, request: Request = REQUEST) -> Reply:
    """Ask, and answer as soon as the question lies there, by the rule: write aside, then rename."""
    async with asyncio.TaskGroup() as group:
        reply = group.create_task(ask(folder, request))
        await appears(folder / f"{STEM}.request.json")
        aside = folder / f"{name}.tmp"
        aside.write_text(content, encoding="utf-8")
        aside.rename(folder / name)
    return reply.result()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_a_person_answers_in_plain_text(tmp_path: Path) -> None:
    reply = await answered(tmp_path, f"{STEM}.reply.md", "Wait a week.\n")
    assert (reply.text, reply.model, reply.provider) == ("Wait a week.\n", "a-person", "mailbox")
    assert (reply.cost, reply.cost_source, reply.request_id) == (0, "free", STEM)
    assert reply.usage.estimated
    assert names(tmp_path) == [f"{STEM}.reply.md", f"{STEM}.request.json", f"{STEM}.request.md"]


async def test_a_program_answers_in_json(tmp_path: Path) -> None:
    answer = {"format": "llm-mailbox/1", "text": "42", "model": "deep-thought", "input_tokens": 3, "output_tokens": 1}
    reply = await answered(tmp_path, f"{STEM}.reply.json", json.dumps(answer))
    assert (reply.text, reply.model, reply.usage) == ("42", "deep-thought", Usage(3, 1))


async def test_the_request_is_there_for_programs_and_for_people(tmp_path: Path) -> None:
    request = dataclasses.replace(REQUEST, schema='{"type":"object"}', temperature=0.2)
    await answered(tmp_path, f"{STEM}.reply.txt", "{}", request)
    written = json.loads((tmp_path / f"{STEM}.request.json").read_text(encoding="utf-8"))
    assert written["format"] == "llm-mailbox/1"
    assert Request.from_dict(written["request"]) == request
    assert f"{STEM}.reply.txt" in written["answer_with"]
    readable = (tmp_path / f"{STEM}.request.md").read_text(encoding="utf-8")
    assert "What now?" in readable
    assert f"`{STEM}.reply.md`" in readable
    assert '{"type":"object"}' in readable


async def test_an_answer_that_is_still_being_saved_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = ["", "An ", "answer ", "in ", "pieces."]

    async def somebody_writes(_: float) -> None:
        """What happens between two looks: at first nothing, then an empty file, then more and more."""
        if pieces and (tmp_path / f"{STEM}.request.json").exists():
            with (tmp_path / f"{STEM}.reply.txt").open("a", encoding="utf-8") as file:
                file.write(pieces.pop(0))

    monkeypatch.setattr(mailbox_module.asyncio, "sleep", somebody_writes)
    assert (await ask(tmp_path)).text == "An answer in pieces."


async def test_cancelling_withdraws_the_question(tmp_path: Path) -> None:
    asked = asyncio.create_task(ask(tmp_path))
    await appears(tmp_path / f"{STEM}.request.md")
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert names(tmp_path) == []


async def test_after_a_restart_nothing_is_asked_twice(tmp_path: Path) -> None:
    first = await answered(tmp_path, f"{STEM}.reply.md", "Once.")
    before = names(tmp_path)
    again = await ask(tmp_path, dataclasses.replace(REQUEST, session_id="another run"))
    assert again == first
    assert names(tmp_path) == before


async def test_two_equal_questions_of_one_run_get_two_answers(tmp_path: Path) -> None:
    generate = mailbox(tmp_path, poll=POLL)

    async def run() -> list[str]:
        async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
            tasks = [group.create_task(ask(generate)) for _ in range(2)]
            for number in (1, 2):
                stem = STEM.replace("0001", f"000{number}")
                await appears(tmp_path / f"{stem}.request.json")
                (tmp_path / f"{stem}.reply.txt").write_text(f"answer {number}", encoding="utf-8")
        return [task.result().text for task in tasks]

    assert await run() == ["answer 1", "answer 2"]
    generate = mailbox(tmp_path, poll=POLL)
    assert await run() == ["answer 1", "answer 2"], "the same after a restart"


async def test_an_old_answer_never_meets_a_new_question(tmp_path: Path) -> None:
    (tmp_path / f"{STEM}.reply.md").write_text("an answer to a question that was withdrawn", encoding="utf-8")
    asked = asyncio.create_task(ask(tmp_path))
    new = STEM.replace("0001", "0002")
    await appears(tmp_path / f"{new}.request.json")
    (tmp_path / f"{new}.reply.md").write_text("the answer", encoding="utf-8")
    assert (await asked).text == "the answer"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not json", "JSON"),
        ("{}", "text: "),
        ('{"text": 5}', "text: "),
        ('{"text": "x", "texts": "y"}', "texts: "),
        ('{"text": "x", "format": "llm-mailbox/9"}', "format"),
        ('{"text": "x", "digest": "00"}', "answers another request"),
        ('{"text": "x", "input_tokens": -1}', "input_tokens: "),
    ],
)
async def test_an_answer_that_is_none_is_one_line_with_its_name(tmp_path: Path, content: str, problem: str) -> None:
    name = f"{STEM}.reply.json"
    with pytest.raises(ExceptionGroup) as caught:
        await answered(tmp_path, name, content)
    [error] = caught.value.exceptions
    assert isinstance(error, MalformedReply)
    assert name in str(error)
    assert problem in str(error)
    assert "\n" not in str(error)
    # Once it is put right, the next run takes it.
    (tmp_path / name).write_text('{"text": "right"}', encoding="utf-8")
    assert (await ask(tmp_path)).text == "right"


async def test_a_blank_answer_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        await answered(tmp_path, f"{STEM}.reply.txt", " \n\n")
    assert isinstance(caught.value.exceptions[0], EmptyReply)


async def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    secret = tmp_path / "secret.txt"
    secret.write_text("not for the model", encoding="utf-8")
    asked = asyncio.create_task(ask(folder))
    await appears(folder / f"{STEM}.request.json")
    (folder / f"{STEM}.reply.txt").symlink_to(secret)
    with pytest.raises(MalformedReply, match=r"reply\.txt .*link"):
        await asked


async def test_a_folder_a_pipe_and_bytes_that_are_no_text_are_no_answers(tmp_path: Path) -> None:
    asked = asyncio.create_task(ask(tmp_path))
    await appears(tmp_path / f"{STEM}.request.json")
    place = tmp_path / f"{STEM}.reply.txt"
    place.mkdir()
    with pytest.raises(MalformedReply, match=r"reply\.txt .*not a file"):
        await asked
    place.rmdir()
    os.mkfifo(place)
    with pytest.raises(MalformedReply, match=r"reply\.txt .*not a file"):
        await ask(tmp_path)
    place.unlink()
    place.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MalformedReply, match=r"reply\.txt .*not UTF-8"):
        await ask(tmp_path)


async def test_a_giant_answer_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox_module, "MAX_BYTES", 10)
    with pytest.raises(ExceptionGroup) as caught:
        await answered(tmp_path, f"{STEM}.reply.txt", "x" * 11)
    assert isinstance(caught.value.exceptions[0], ReplyTooLarge)


async def test_deleting_the_request_declines_it(tmp_path: Path) -> None:
    asked = asyncio.create_task(ask(tmp_path))
    (await appears(tmp_path / f"{STEM}.request.json")).unlink()
    with pytest.raises(RequestRefused, match="deleted without an answer"):
        await asked


async def test_a_folder_that_is_a_file_cannot_be_used(tmp_path: Path) -> None:
    place = tmp_path / "letters"
    place.touch()
    with pytest.raises(ConnectionFailed, match="letters cannot be used"):
        await ask(place)


async def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(mailbox_module.os, "fsync", full)
    with pytest.raises(ConnectionFailed, match="No space left"):
        await ask(tmp_path)
    assert names(tmp_path) == []
    monkeypatch.undo()
    assert (await answered(tmp_path, f"{STEM}.reply.txt", "Now there is space.")).text == "Now there is space."


async def test_where_there_are_no_links_a_rename_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(mailbox_module.os, "link", no_links)
    assert (await answered(tmp_path, f"{STEM}.reply.txt", "All the same.")).text == "All the same."


async def test_a_page_for_people_that_was_not_written_any_more_is_written_later(tmp_path: Path) -> None:
    await answered(tmp_path, f"{STEM}.reply.md", "Once.")
    (tmp_path / f"{STEM}.request.md").unlink()
    await ask(tmp_path)
    assert (tmp_path / f"{STEM}.request.md").exists()


async def test_the_page_for_people_cannot_steer_their_terminal(tmp_path: Path) -> None:
    request = dataclasses.replace(REQUEST, messages=(Message("user", "a\x1b]52;c;Zm9v\x07b\u202ec"),))
    await answered(tmp_path, f"{STEM}.reply.md", "Seen.", request)
    page = (tmp_path / f"{STEM}.request.md").read_text(encoding="utf-8")
    assert "a]52;c;Zm9vbc" in page


async def test_damaged_and_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "0007-x.request.json").write_bytes(b"\xff{")
    (tmp_path / "0008-x.request.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "notes.md").touch()
    (tmp_path / "0009-x.request.json").symlink_to(tmp_path / "notes.md")
    asked = asyncio.create_task(ask(tmp_path))
    stem = STEM.replace("0001", "0010")
    await appears(tmp_path / f"{stem}.request.json")
    (tmp_path / f"{stem}.reply.txt").write_text("fine", encoding="utf-8")
    assert (await asked).text == "fine"


@given(st.text(min_size=1, max_size=200), st.text(max_size=200), st.text(max_size=40))
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_label_leads_out_of_the_folder_and_no_text_is_lost(
    tmp_path_factory: pytest.TempPathFactory, answer: str, content: str, seat: str
) -> None:
    outer = tmp_path_factory.mktemp("outer")
    folder = outer / "letters"
    request = Request("m", (Message("user", content),), CallLabel("../..", "/etc/passwd", seat))

    async def scenario() -> Reply:
        asked = asyncio.create_task(ask(folder, request))
        await asyncio.sleep(0)
        [written] = folder.glob("*.request.json")
        assert Request.from_dict(json.loads(written.read_text(encoding="utf-8"))["request"]) == request
        reply = folder / written.name.replace(".request.", ".reply.")
        reply.write_text(json.dumps({"text": answer}), encoding="utf-8")
        return await asked

    try:
        assert asyncio.run(scenario()).text == answer
    except LlmRuntimeError as error:
        assert isinstance(error, EmptyReply)
        assert not answer.strip()
    assert names(outer) == ["letters"]


_ASKER = """
import asyncio, sys
from pathlib import Path
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.providers.mailbox import mailbox

async def main():
    generate = mailbox(Path(sys.argv[1]), poll=0.001)
    async with asyncio.TaskGroup() as group:
        for seat in range(20):
            label = CallLabel("crucible", "position", str(seat))
            group.create_task(generate(Request("m", (Message("user", f"question {seat}"),), label)))

asyncio.run(main())
"""


@pytest.mark.parametrize("written_before_the_kill", [0, 1, 7, 20])
async def test_a_killed_asker_leaves_questions_that_the_next_run_takes_up(
    tmp_path: Path, written_before_the_kill: int
) -> None:
    folder = tmp_path / "letters"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _ASKER, str(folder))
    async with asyncio.timeout(PATIENCE):
        while len(list(folder.glob("*.request.json"))) < written_before_the_kill:  # noqa: ASYNC110
            await asyncio.sleep(POLL)
    process.send_signal(signal.SIGKILL)
    await process.wait()
    for path in folder.glob("*.request.json"):
        json.loads(path.read_text(encoding="utf-8"))  # whole, each of them
    generate = mailbox(folder, poll=POLL)
    seats = [
        Request("m", (Message("user", f"question {seat}"),), CallLabel("crucible", "position", str(seat)))
        for seat in range(20)
    ]

    async def answer_all() -> None:
        pending = set(range(20))
        while pending:
            for path in folder.glob("*.request.json"):
                seat = int(path.name.split("-")[3])
                if seat in pending:
                    pending.remove(seat)
                    (folder / path.name.replace(".request.json", ".reply.txt")).write_text(f"answer {seat}")
            await asyncio.sleep(POLL)

    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        asked = [group.create_task(ask(generate, request)) for request in seats]
        group.create_task(answer_all())
    assert [task.result().text for task in asked] == [f"answer {seat}" for seat in range(20)]
    assert len(list(folder.glob("*.request.json"))) == 20, "no question lies there twice"


async def test_an_error_says_mailbox(tmp_path: Path) -> None:
    with pytest.raises(ExceptionGroup) as caught:
        await answered(tmp_path, f"{STEM}.reply.json", "[]")
    [error] = caught.value.exceptions
    assert isinstance(error, CallError)
    assert (error.provider, error.model) == ("mailbox", "a-person")


async def test_the_program_in_the_documentation_answers(tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "mailbox.md"
    [program] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names_of_program: dict[str, Any] = {}
    exec(program, names_of_program)
    asked = asyncio.create_task(ask(tmp_path))
    await appears(tmp_path / f"{STEM}.request.json")
    names_of_program["answer"](tmp_path)
    assert (await asked).text == "2 words"
