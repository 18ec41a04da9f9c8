"""Places with texts, read as utterances: who said what, when, in answer to what, and whose words it is."""

from crux.sources.place import read_place
from crux.sources.utterance import Balance, PlaceReading, Utterance

__all__ = ["Balance", "PlaceReading", "Utterance", "read_place"]
