"""Where quotes stand, as SARIF puts it.

Places are those of the prompt file where there is one, by line and column within the quoted layer; else of the
layer, whose text travels in the log as an artifact.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import quote as url_quote

from assay.report.clean import clean
from fire_circle.hidden import visible
from fire_circle.layers import BY_TRUST
from fire_circle.results import Example, Place

Json: TypeAlias = dict[str, Any]


class Places:
    """The places in one prompt.

    Args:
        task: the run's: layers, and the prompt file as ``source`` where there is one.
    """

    def __init__(self, task: Mapping[str, Any]) -> None:
        self._layers = {name: str(task[name]) for name in BY_TRUST if task.get(name)}
        source = task.get("source")
        self._source = _read(source) if isinstance(source, str) else None
        self._uri = url_quote(Path(source).as_posix()) if isinstance(source, str) else ""
        self._fields = _field_places(self._source) if self._source is not None else {}
        self.artifacts: list[Json] = []
        if self._source is None:
            self.artifacts = [
                {"location": {"uri": f"prompt/{name}"}, "contents": {"text": clean(visible(text).text)}}
                for name, text in self._layers.items()
            ]

    def whole(self) -> Json:
        """Return the prompt."""
        judged = list(self._layers)[-1] if self._layers else "user"
        uri = self._uri if self._source is not None else f"prompt/{judged}"
        return {"physicalLocation": {"artifactLocation": {"uri": uri}}, "logicalLocations": [_logical(judged)]}

    def of(self, example: Example) -> Json:
        """Return a quote's place; in the file by line and column, in a layer by its characters."""
        layer = example.span.layer
        region: Json = {"snippet": {"text": clean(visible(example.quote).text)}}
        uri = f"prompt/{layer}"
        if self._source is not None:
            uri = self._uri
            region |= self._in_file(layer, example)
        elif layer in self._layers:
            shown = visible(self._layers[layer])
            start, end = shown.at(example.span.start), shown.at(example.span.end)
            region |= {"charOffset": start, "charLength": end - start}
        physical = {"artifactLocation": {"uri": uri}, "region": region}
        return {"physicalLocation": physical, "logicalLocations": [_logical(layer)]}

    def _in_file(self, layer: Place, example: Example) -> Json:
        """Return the quote's first line in its layer's part of the file, or where that part begins."""
        source = self._source or ""
        start, end = self._fields.get("history" if layer == "earlier" else layer, (0, len(source)))
        first = example.quote.split("\n", 1)[0].strip()
        at = source.find(first, start, end) if first else -1
        for _ in range(self._layers.get(layer, "")[: example.span.start].count(first) if at >= 0 else 0):
            at = max(at, source.find(first, at + 1, end))
        if at < 0:
            return {"startLine": source.count("\n", 0, start) + 1}
        line = source.count("\n", 0, at) + 1
        column = at - source.rfind("\n", 0, at)
        return {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + len(first)}


def _field_places(source: str) -> dict[str, tuple[int, int]]:
    """Return where in a YAML or JSON file the value of each field stands."""
    import yaml

    try:
        root: object = cast("Any", yaml).compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(root, yaml.MappingNode):
        return {}
    return {
        str(key.value): (value.start_mark.index, value.end_mark.index)
        for key, value in root.value
        if isinstance(key, yaml.ScalarNode)
    }


def _logical(layer: str) -> Json:
    return {"name": layer, "fullyQualifiedName": f"prompt.{layer}", "kind": "member"}


def _read(source: str) -> str | None:
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
