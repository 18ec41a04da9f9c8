"""Authors that are watched: where their texts come from, and what was known of them the last time."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

from pydantic import Field

from crux.comparison import Comparison
from crux.personas.corpus import Corpus, make_corpus
from crux.personas.fetching import as_file, is_address
from crux.personas.importing import import_corpus
from crux.personas.persona import check_name
from crux.personas.store import PersonaStore, StoredCorpus
from crux.sources.utterance import Utterance
from llm_runtime.errors import ConfigurationError, StoreUnwritable
from llm_runtime.files import saying, write_atomic
from llm_runtime.http.public import read_page
from llm_runtime.keys import read_toml
from llm_runtime.models import Model, fits


class Watched(Model):
    """An author: a name, and places of texts: folders, files, and feeds or pages by their https address."""

    name: str = Field(min_length=1, max_length=80)
    places: list[str] = Field(min_length=1, max_length=50)


class WatchFile(Model):
    """What is watched. ``fetch`` allows addresses among the places; ``feed`` is where the Atom feed goes."""

    topic: str = ""
    fetch: bool = False
    feed: str = ""
    authors: list[Watched] = Field(min_length=2, max_length=40)


class Known(Model):
    """What the last look left: kept beside the file, under its name with the ending ``.json``.

    Args:
        etags: of addresses, so that an unchanged page is not sent again.
        digests: of the authors' texts when they were compared last.
        run: a comparison that was stopped before it was done, of the texts whose digests are ``pending``.
        comparison: what was found last; None before the first look.
        entries: of the feed, the newest first.
    """

    etags: dict[str, str] = {}
    digests: tuple[str, ...] = ()
    run: str = ""
    pending: tuple[str, ...] = ()
    comparison: Comparison | None = None
    entries: list[dict[str, str]] = []


def read_watch(path: Path) -> tuple[WatchFile, Known]:
    """Read what is watched, and what was known the last time.

    Raises:
        ConfigurationError: one of the files cannot be read or does not fit; says where.
    """
    snapshot = path.with_suffix(".json")
    with saying(f"{snapshot} cannot be read"), fits(f"{path.name}: "):
        watched = WatchFile.model_validate(read_toml(path, there=True))
        known = Known.model_validate_json(snapshot.read_bytes()) if snapshot.is_file() else Known()
    addresses = [place for author in watched.authors for place in author.places if is_address(place)]
    if addresses and not watched.fetch:
        raise ConfigurationError(f"{path.name}: {addresses[0][:200]} is an address; fetch = true fetches it")
    return watched, known


def keep_known(path: Path, known: Known) -> None:
    """Keep what is known beside the file.

    Raises:
        StoreUnwritable: it cannot be written.
    """
    text = json.dumps(known.model_dump(mode="json"), ensure_ascii=False)
    with saying(f"{path.with_suffix('.json')} cannot be written", StoreUnwritable):
        write_atomic(path.with_suffix(".json"), text, private=True)


def gathered(author: Watched, folder: Path, people: PersonaStore, etags: dict[str, str]) -> tuple[Corpus, list[str]]:
    """Import what an author's places hold now; return all texts, and a line for each that was skipped.

    What a feed no longer lists stays; what left a folder goes. ``etags`` is changed in place.

    Args:
        folder: that paths are relative to.

    Raises:
        ConfigurationError: a place cannot be read or fetched, or must not be; nothing was changed.
    """
    name = check_name(author.name)
    before = people.corpus(name) if name in people.names() else StoredCorpus(name=name)
    items: list[Utterance] = []
    skipped: list[str] = []
    aliases = dict.fromkeys(before.aliases)
    for place in author.places:
        if not is_address(place):
            imported, url = import_corpus(folder / place, name=name), ""
        else:
            page = asyncio.run(read_page(place, etags.get(place, "")))
            if page is None:
                continue
            with tempfile.TemporaryDirectory(prefix="assay-fetch-") as fetched:
                imported, url = import_corpus(as_file(page, Path(fetched)), name=name), page.url
            etags |= {place: page.etag} if page.etag else {}
        items += [
            item if item.url or not url else item.model_copy(update={"url": url}) for item in imported.corpus.items
        ]
        aliases |= dict.fromkeys(one for one in (imported.author, *imported.aliases) if one and one != name)
        skipped += imported.skipped
    ids = {item.id for item in items}
    items += [item for item in before.corpus.items if item.id not in ids and (item.url or item.source == "feed")]
    corpus = make_corpus(items)
    if corpus.digest != before.corpus.digest:
        people.add_corpus(StoredCorpus(name=name, aliases=tuple(aliases), corpus=corpus))
    return corpus, skipped
