"""A cache in tiers."""

from stash.cache import Stash
from stash.counts import Counts
from stash.errors import ScriptError, StashError
from stash.script import follow, read_script

__all__ = ["Counts", "ScriptError", "Stash", "StashError", "follow", "read_script"]
