"""An adoption as a run: which functions of which package, and where what comes of it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.report.standing import Leaning, RunVerdict
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.names import FilePath, Folder
from llm_runtime.tasks import gather

if TYPE_CHECKING:
    from criticality.standing import Candidate, Package

ALL = "*"


class Task(Model):
    """Functions of a Python or TypeScript package that exists."""

    package: Annotated[FilePath, Ui(doors=("form",), advanced=False)] = Field(min_length=1)
    """The folder of a Python or TypeScript package, or one .py or .ts file, written in full."""
    functions: Annotated[tuple[str, ...], Ui(doors=("form",), advanced=False)] = Field(min_length=1)
    """Functions by name, as slug or words.slug; * is every one that can be adopted."""
    into: Annotated[Folder, Ui(metavar="FOLDER", advanced=False)] = ""
    """Where specification, tests and trace go [default: PACKAGE-adopted beside the package]."""


class Options(Model):
    """How functions are adopted."""

    rewrite: Annotated[tuple[str, ...], Ui(metavar="FUNCTION")] = ()
    """Have this function written anew under the promises that hold, as a patch (repeatable)."""
    mutants: Annotated[int, Ui(show_default=True)] = Field(default=24, ge=0, le=200)
    """Small changes of each body that the promises are tried with."""
    concurrency: Annotated[int, Ui(show_default=True)] = Field(default=2, ge=1, le=16)
    """Functions at a time."""


class AdoptionHooks(Hooks[Task, Options]):
    """What an adoption does."""

    told = "assay.protocols.criticality.report.adopt_story:AdoptFold"
    measures = {
        "adopted": lambda result: sum(not one["refused"] for one in result.get("adoptions", ())),
        "findings": lambda result: len(_findings(result)),
    }
    seatless = True
    replayable = False

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Adopt each function; the result names what became of it, its findings, and the folder.

        Raises:
            ConfigurationError: there is no box to import the package in.
            LlmRuntimeError: whatever ends a run; what was adopted before is asked for again for nothing.
        """
        from criticality.adopt.adopting import Adopting, Adoption
        from criticality.adopt.deciding import deviations
        from criticality.adopt.events import PackageRead
        from criticality.adopt.writing import write_adoption
        from criticality.asking import Asking
        from criticality.config import Acceptance, Config, Models, ProjectConfig
        from criticality.judging.court import Court
        from criticality.languages import adopter, language
        from criticality.standing import chosen

        package, functions = _read(task, options)
        rewrite = {one.id for one in chosen(package, options.rewrite)} if options.rewrite else set[str]()
        before = await asyncio.to_thread(package.digest)
        left_out = {one.shown: one.refused for one in package.candidates if one.refused}
        context.emit(PackageRead(package=package.name, functions=[one.shown for one in functions], left_out=left_out))
        adopts = adopter(Path(task.package))
        faults = await adopts.import_faults(package, functions)
        config = Config(project=ProjectConfig(name=package.name), acceptance=Acceptance(mutants=options.mutants))
        court = Court(options.concurrency)
        by_id = {one.id: one for one in functions}
        ask = Asking(context.generate, Models(), context.seed)
        adopting = Adopting(adopts, package, ask, court, config, context.emit, rewrite)
        turn, folder, done = asyncio.Semaphore(options.concurrency), Path(task.into), dict[str, Adoption]()
        async with language(package.language).toolchain() as tools:
            isolation = tools.isolation

        def write() -> None:
            _require_same(package, before)
            adoptions = [done[one.id] for one in functions if one.id in done]
            write_adoption(folder, adopts, package, by_id, adoptions, left_out, isolation, context.run_id)

        async def each(one: Candidate) -> Adoption:
            async with turn:
                why = faults.get(one.module)
                refused = f"{one.module} cannot be imported: {why}" if why else ""
                done[one.id] = await adopting.adopt(one, refused)
                write()
                return done[one.id]

        async with aclosing(court):
            adoptions = await gather(each(one) for one in functions)
        write()
        return {
            "package": package.name, "folder": str(folder), "untouched": before,
            "adoptions": [one.model_dump(mode="json", exclude={"kept_cases"}) for one in adoptions],
            "deviations": [one.place for one in deviations(adoptions)],
        }  # fmt: skip

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Read the package, and name package, functions and folder in full; nothing of it runs.

        Raises:
            ConfigurationError: the package cannot be read, a function is not there or cannot be adopted, or the
                folder holds something else.
        """
        from criticality.adopt.writing import require_free

        package, chosen = _read(task, options)
        into = Path(task.into).expanduser() if task.into.strip() else package.top.parent / f"{package.name}-adopted"
        if not task.into.strip() and package.root.name in ("site-packages", "dist-packages"):
            raise ConfigurationError(f"{package.name} is installed; name a folder for what comes of it with --into")
        if not into.is_absolute():
            raise ConfigurationError(f"into: write it in full, from the root of the disk, not {task.into[:80]}")
        require_free(into)
        names = tuple(one.shown for one in chosen)
        return Task(package=str(Path(task.package).absolute()), functions=names, into=str(into)), options

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        count = len(task.functions)
        what = task.functions[0] if count == 1 else f"{count} functions of {Path(task.package).stem}"
        return f"Adopt {'all of ' + Path(task.package).stem if task.functions == (ALL,) else what}"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many functions are adopted, and what a person should look at."""
        adoptions = result["adoptions"]
        adopted, findings = sum(not one["refused"] for one in adoptions), len(_findings(result))
        words = f"{adopted} of {count_noun(len(adoptions), 'function')} adopted"
        leaning: Leaning = "good" if adopted == len(adoptions) and not findings else "open"
        return RunVerdict(words, doubt=count_noun(findings, "finding") if findings else "", leaning=leaning)


def _read(task: Task, options: Options) -> tuple[Package, list[Candidate]]:
    from criticality.languages import adopter
    from criticality.standing import chosen

    path = Path(task.package).expanduser()
    package = adopter(path).read(path)
    functions = chosen(package, task.functions)
    rewritten = chosen(package, options.rewrite) if options.rewrite else []
    known = {one.id for one in functions}
    return package, [*functions, *(one for one in rewritten if one.id not in known)]


def _require_same(package: Package, digest: str) -> None:
    if package.digest() != digest:
        raise ConfigurationError(
            f"the files of {package.name} changed meanwhile; nothing more was written, run it again"
        )


def _findings(result: Mapping[str, Any]) -> list[Any]:
    return [f for one in result.get("adoptions", ()) for f in one["findings"] if f["kind"] == "finding"]
