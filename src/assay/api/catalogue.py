"""Which models a chat program can choose: kinds of run that answer in a chat, and the user's presets of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, cast

from assay.protocol import RunType
from assay.registry import known, run_types
from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import read_toml
from llm_runtime.settings import config_dir
from llm_runtime.structs import Struct

PREFIX = "assay/"
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class ChatModel(Struct):
    """One model of the list.

    Args:
        name: without :data:`PREFIX`.
        run: the kind of run that answers.
        preset: fields that the user set for it, of task, options and terms.
    """

    name: str
    run: RunType
    preset: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def id(self) -> str:
        """The name that programs send."""
        return PREFIX + self.name


def chat_models(folder: Path | None = None) -> dict[str, ChatModel]:
    """Return the models by name: ours, then the presets of ``presets.toml``.

    Args:
        folder: where that file is; the user's configuration where left out.

    Raises:
        ConfigurationError: the file cannot be read, or a preset is not possible; says which.
    """
    ours = {run.chat: ChatModel(run.chat, run) for run in run_types().values() if run.chat}
    path = (folder or config_dir()) / "presets.toml"
    presets = (_preset(path, name, table, ours) for name, table in read_toml(path).items())
    return {**ours, **{preset.name: preset for preset in presets}}


def _preset(path: Path, name: str, table: Any, ours: Mapping[str, ChatModel]) -> ChatModel:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: {name} must be a table: [{name}]")
    if name in ours or not _NAME.fullmatch(name):
        raise ConfigurationError(f"{path}: [{name}] is taken, or no name; choose another, of a-z 0-9 . _ -")
    fields = dict(cast("dict[str, Any]", table))
    kind = str(fields.pop("kind", ""))
    run = ours[kind].run if kind in ours else known(kind)
    if run is None or not run.chat:
        raise ConfigurationError(f"{path}: [{name}] needs kind = one of {', '.join(ours)}")
    return ChatModel(name, run, fields)
