"""The page on models: its table is the table of dialects, and its example is a configuration."""

from __future__ import annotations

import re
from pathlib import Path

from llm_runtime.dialects import HOSTED, LOCAL
from llm_runtime.routing import parse_model
from llm_runtime.settings import load_settings

PAGE = (Path(__file__).parents[2] / "docs/models.md").read_text("utf-8")


def test_every_vendor_stands_in_the_table_with_its_key() -> None:
    named = set(re.findall(r"`([A-Z_]+_(?:API_KEY|TOKEN|TOKEN_BEDROCK))`", PAGE))
    assert named == {dialect.key_env for dialect in HOSTED.values()}
    asked = {target.provider for name in re.findall(r"`([\w.]+:[^`]*)`", PAGE) if (target := parse_model(name))}
    assert asked >= {*HOSTED, *LOCAL}


def test_the_example_is_a_configuration(tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "config.toml").write_text(example)
    settings = load_settings({"WORK_KEY": "a-key-0123456789"}, tmp_path, tmp_path)
    assert [settings.endpoint(name).dialect.name for name in settings.providers] == ["azure", "vllm"]
