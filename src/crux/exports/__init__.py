"""A debate in other people's forms: JSON, Markdown, Argdown, AIF, CSV (CX28)."""

from crux.exports.aif import to_aif
from crux.exports.argdown import to_argdown
from crux.exports.markdown import to_markdown
from crux.exports.tables import stances_csv
from crux.exports.whole import from_json, to_json

__all__ = ["from_json", "stances_csv", "to_aif", "to_argdown", "to_json", "to_markdown"]
