"""What each person may see and do: asked at every address, at every run that is begun, and while a stream is open.

A run's owner, and whether it is shared, stand beside it in the store as tags that nobody can type.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, TypeVar

from assay.fields import Ui, specs_of
from assay.launch.naming import names_of
from assay.registry import Prepared
from assay.terms import Terms
from assay.web.people import WHO, Person, may_all
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, RunNotFound
from llm_runtime.names import Name, names_in
from llm_runtime.routing import permitted
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore
from llm_runtime.store.upkeep import mark, tags_of

T = TypeVar("T")
Need: TypeAlias = Literal["open", "known", "see", "start", "note", "act", "admin"]
"""What an address takes: nothing; to be signed in; to see its run; to be more than a reader; both; to own the run
as no reader; to be an admin."""
SHARED = "shared:all"
_LOOK_S = 0.5
_REFUSED = "you may not do that here; ask an admin of this server"


class NotAllowed(LlmRuntimeError):
    """Whoever asks may not do that."""


def tag_of(who: Person) -> str:
    """Return the tag of a person's runs."""
    return f"owner:{who.whose}"


def seen() -> list[str] | None:
    """Return the tags of which a run has one where whoever asks may see it; ``None`` for every run."""
    who = WHO.get()
    return None if may_all() or who is None else [tag_of(who), SHARED]


def sees(store: RunStore, run_id: str) -> bool:
    """Tell whether whoever asks may see a run."""
    tags = seen()
    return tags is None or not set(tags).isdisjoint(tags_of(store, run_id))


def acts(store: RunStore, run_id: str) -> bool:
    """Tell whether whoever asks may act on a run: stop it, go on with it, answer it, share it."""
    who = WHO.get()
    return may_all() or (who is not None and who.role == "member" and tag_of(who) in tags_of(store, run_id))


def may_start() -> bool:
    """Tell whether whoever asks may begin runs."""
    who = WHO.get()
    return who is None or who.role != "reader"


def demand(store: RunStore, need: Need, run_id: str = "") -> None:
    """Let whoever asks pass.

    Raises:
        RunNotFound: there is no such run for them.
        NotAllowed: their role does not allow it.
    """
    who = WHO.get()
    if may_all() or who is None:
        return
    if run_id and not sees(store, run_id):
        raise RunNotFound(f"there is no run {run_id[:80]!r}; list the runs to see their ids")
    if need in ("open", "known", "see"):
        return
    if need == "admin" or who.role == "reader" or (need == "act" and not acts(store, run_id)):
        raise NotAllowed(_REFUSED)


def permit(store: RunStore, settings: Settings, run: Prepared, *terms: Terms, fresh: bool = False) -> None:
    """Let whoever asks begin a run, or with ``fresh`` unset go on with one.

    Args:
        store: where it goes.
        settings: name the models that may be named whatever they are.
        run: the run.
        terms: that it goes on.
        fresh: whether it begins with what its task names, which stands in a log later.

    Raises:
        ConfigurationError: it would reach what is the server's: a folder, an address, another's run.
    """
    demand(store, "start")
    for part in (run.task, run.options) if fresh else ():
        for name in names_in(part):
            _refuse_beside_forms(specs_of(type(part))[name.field].ui, name)
    if not may_all():
        names = list(names_of(run, *terms))
        permit_names(settings, run, names)
        for name in names if fresh else ():
            if name.kind == "run":
                demand(store, "see", name.text)


def permit_names(settings: Settings, run: Prepared, names: Iterable[Name]) -> None:
    """Let somebody who is no admin begin a run with these names in it.

    Raises:
        ConfigurationError: it would reach what is the server's.
    """
    if not run.hooks.replayable:
        raise ConfigurationError(f"{run.run.title}: it works in folders of this server, so only an admin starts one")
    for name in names:
        if name.kind in ("folder", "file", "tool") or not (name.kind == "run" or _reaches(settings, name)):
            raise ConfigurationError(f"{name.field}: {name.text[:60]}: only an admin names folders and addresses")


def _refuse_beside_forms(ui: Ui, name: Name) -> None:
    """Refuse what is for the command line: whoever asks a server may not read its machine's files."""
    if "form" not in ui.doors and (name.kind != "tool" or "agent" not in ui.doors):
        raise ConfigurationError(f"{name.field} can be set on the command line and in job files alone")
    if ui.local and not name.text.startswith("https://"):
        raise ConfigurationError(f"{name.field}: only https:// addresses are taken here, not {name.text[:80]}")


def _reaches(settings: Settings, name: Name) -> bool:
    """Tell whether a name leads where everybody may: what is configured, or a page of the public web."""
    return name.text.startswith("https://") if name.kind == "address" else permitted(settings, name.text)


@contextmanager
def owned(store: RunStore, run_id: str) -> Generator[None]:
    """Note whose run it is before the block begins it: it is never without its owner."""
    if (who := WHO.get()) is None:
        yield
        return
    mark(store, run_id, tag_of(who))
    try:
        yield
    except BaseException:
        try:
            store.summary(run_id)
        except RunNotFound:
            mark(store, run_id, tag_of(who), off=True)
        raise


async def while_allowed(pieces: AsyncIterator[T], allowed: Callable[[], bool]) -> AsyncIterator[T]:
    """Pass a stream on for as long as whoever reads it may; also one that is still is looked at."""
    coming: asyncio.Future[T] | None = None
    try:
        while allowed():
            coming = coming or asyncio.ensure_future(anext(pieces))
            if (await asyncio.wait([coming], timeout=_LOOK_S))[0] and allowed():
                try:
                    piece = coming.result()
                except StopAsyncIteration:
                    return
                coming = None
                yield piece
    finally:
        if coming is not None:
            coming.cancel()
            await asyncio.wait([coming])
        close: Any = getattr(pieces, "aclose", None)
        if close is not None:
            await close()
