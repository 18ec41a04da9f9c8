"""Where quotes stand, as SARIF puts it.

Places are those of the prompt file where there is one, by line and column within the quoted layer, or within the
row of a file of many cases; else of the layer, whose text travels in the log as an artifact.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias, cast
from urllib.parse import quote as url_quote

from assay.protocols.fire_circle.task import Task, texts_of
from assay.report.clean import clean
from fire_circle.hidden import visible
from fire_circle.results import Example, Place

Json: TypeAlias = dict[str, Any]


class Places:
    """The places in one prompt.

    Args:
        task: its layers, and the file they stand in as ``source`` where there is one.
        name: of the case in its suite.
    """

    def __init__(self, task: Task, name: str = "") -> None:
        self.name = name
        self._layers = {str(name): text for name, text in texts_of(task).items()}
        self._source = _read(task.source) if task.source else None
        self._judged = next(reversed(self._layers), "user")
        self.uri = url_quote(_relative(task.source)) if self._source is not None else self._own_uri(self._judged)
        self._line = getattr(task, "line", 0)
        self._fields = _field_places(self._source, self._line) if self._source is not None else {}
        self.artifacts: list[Json] = []
        if self._source is None:
            self.artifacts = [
                {"location": {"uri": self._own_uri(layer)}, "contents": {"text": clean(visible(text).text)}}
                for layer, text in self._layers.items()
            ]

    def _own_uri(self, layer: str) -> str:
        return f"prompt/{url_quote(self.name)}/{layer}" if self.name else f"prompt/{layer}"

    def whole(self) -> Json:
        """Return the prompt."""
        physical: Json = {"artifactLocation": {"uri": self.uri}}
        if self._line:
            physical["region"] = {"startLine": self._line}
        return {"physicalLocation": physical, "logicalLocations": [self._logical(self._judged)]}

    def of(self, example: Example) -> Json:
        """Return a quote's place; in the file by line and column, in a layer by its characters."""
        layer = example.span.layer
        region: Json = {"snippet": {"text": clean(visible(example.quote).text)}}
        uri = self._own_uri(layer)
        if self._source is not None:
            uri = self.uri
            region |= self._in_file(layer, example)
        elif layer in self._layers:
            shown = visible(self._layers[layer])
            start, end = shown.at(example.span.start), shown.at(example.span.end)
            region |= {"charOffset": start, "charLength": end - start}
        physical = {"artifactLocation": {"uri": uri}, "region": region}
        return {"physicalLocation": physical, "logicalLocations": [self._logical(layer)]}

    def _in_file(self, layer: Place, example: Example) -> Json:
        """Return the quote's first line in its layer's part of the file, or where that part begins."""
        source = self._source or ""
        whole = self._fields.get("", (0, len(source)))
        start, end = self._fields.get("history" if layer == "earlier" else layer, whole)
        plain = example.quote.split("\n", 1)[0].strip()
        spellings = (plain, *(json.dumps(plain, ensure_ascii=ascii)[1:-1] for ascii in (False, True)))
        first = next((one for one in spellings if one and source.find(one, start, end) >= 0), "")
        at = source.find(first, start, end) if first else -1
        before = self._layers.get(layer, "")[: example.span.start]
        for _ in range(before.count(plain) if at >= 0 else 0):
            at = max(at, source.find(first, at + 1, end))
        if at < 0:
            return {"startLine": source.count("\n", 0, start) + 1}
        line = source.count("\n", 0, at) + 1
        column = at - source.rfind("\n", 0, at)
        return {"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + len(first)}

    def _logical(self, layer: str) -> Json:
        qualified = ".".join(filter(None, ("prompt", self.name, layer)))
        return {"name": layer, "fullyQualifiedName": qualified, "kind": "member"}


def _field_places(source: str, line: int) -> dict[str, tuple[int, int]]:
    """Return where in a YAML or JSON file the value of each field stands; of a row all from its beginning."""
    import yaml

    if line:
        return {"": (sum(len(before) + 1 for before in source.split("\n")[: line - 1]), len(source))}
    try:
        root: object = cast("Any", yaml).compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(root, yaml.MappingNode):
        return {}
    scalars = ((key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode))
    return {str(key.value): (value.start_mark.index, value.end_mark.index) for key, value in scalars}


def _relative(source: str) -> str:
    """Return a file as seen from here, which is where a forge looks for it."""
    try:
        return Path(source).resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return Path(source).as_posix()


def _read(source: str) -> str | None:
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
