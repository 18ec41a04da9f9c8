"""A debate in other people's forms: JSON, Markdown, Argdown, AIF, CSV (CX28); a comparison too."""

from crux.exports.aif import to_aif
from crux.exports.argdown import to_argdown
from crux.exports.claims import claims_aif, claims_argdown, claims_csv, to_graphml, to_kialo, to_mermaid
from crux.exports.markdown import to_markdown
from crux.exports.tables import stances_csv
from crux.exports.whole import from_json, to_json

__all__ = [
    "claims_aif",
    "claims_argdown",
    "claims_csv",
    "from_json",
    "stances_csv",
    "to_aif",
    "to_argdown",
    "to_graphml",
    "to_json",
    "to_kialo",
    "to_markdown",
    "to_mermaid",
]
