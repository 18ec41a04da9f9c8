"""`assay debate watch FILE.toml`: authors looked at again; what is new is read, what moved is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from assay.console.declared import declares
from assay.console.running import RunCommand, resume_run, run_command
from assay.protocols.crux.commands.judge import write_story
from assay.protocols.crux.people import open_people

#: Entries that the feed holds.
_ENTRIES = 50


@run_command("crux.compare", "watch", noun="changes")
@declares(__package__ or "", "options.toml")("watch")
def watch(command: RunCommand, file: str, people: str | None) -> int:
    """Look at authors again, and tell which cruxes moved, appeared or went.

    Only what is new is read: where nothing is, no model is asked. FILE.toml has a topic, and two [[authors]] or
    more, each with a name and places: folders, files, and, with fetch = true, https addresses of feeds and pages.
    What was found is kept beside it, in FILE.json. The exit code is 1 where a crux moved, appeared or went since
    the last look.

    \b
    assay debate watch founders.toml --out moved.html
    """
    from assay.protocols.crux.report.watch import atom, feed_entries, watch_story
    from assay.report.clean import one_line
    from assay.report.places import write_whole
    from assay.report.terminal import print_story
    from crux.building import utc_now
    from crux.comparison import Comparison
    from crux.watch_file import gathered, keep_known, read_watch
    from crux.watching import crux_changes

    command.output.check()
    path, store = Path(file), open_people(people)
    watched, known = read_watch(path)
    names, etags = [author.name for author in watched.authors], dict(known.etags)
    digests: list[str] = []
    for author in watched.authors:
        corpus, skipped = gathered(author, path.parent, store, etags)
        digests.append(corpus.digest)
        for line in skipped[:10] if not command.output.quiet else ():
            click.echo(f"skipped: {one_line(line)}", err=True)
    now_known = known.model_copy(update={"etags": etags, "run": "", "pending": ()})
    if known.comparison is not None and known.digests == tuple(digests):
        keep_known(path, now_known)
        click.echo(f"nothing new from {' or '.join(names)}; no model was asked")
        return 0
    if known.run and known.pending == tuple(digests):
        outcome = resume_run(known.run, command.store, command.terms, command.output)
    else:
        judged = known.comparison.judged if known.comparison else ()
        command.task |= {"authors": tuple(names), "topic": watched.topic, "people": people}
        command.options["judged"] = [one.model_dump(mode="json") for one in judged]
        outcome = command.go()
    if outcome.state != "finished":
        keep_known(path, now_known.model_copy(update={"run": outcome.run_id, "pending": tuple(digests)}))
        return command.finish(outcome)
    comparison = Comparison.model_validate(outcome.result)
    before = known.comparison or comparison.model_copy(update={"opposed": (), "candidates": ()})
    moved = crux_changes(before, comparison)
    entries = [*feed_entries(moved, outcome.run_id, utc_now()), *known.entries][:_ENTRIES]
    if watched.feed:
        write_whole(path.parent / watched.feed, atom(" and ".join(names), entries))
    learned = {"digests": tuple(digests), "comparison": comparison, "entries": entries}
    keep_known(path, now_known.model_copy(update=learned))
    story = watch_story(names, moved, first_look=known.comparison is None)
    if command.output.as_json:
        click.echo(json.dumps([one.model_dump(mode="json") for one in moved], ensure_ascii=False, indent=1))
    else:
        print_story(story, sys.stdout, whole=True)
    if command.output.out:
        write_story(Path(command.output.out), story)
    return int(bool(moved) and known.comparison is not None)
