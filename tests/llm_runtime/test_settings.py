"""Where keys and configuration are found, and what is said of files that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import read_keys, write_key
from llm_runtime.settings import Limits, load_settings, merged

KEY = "sk-or-canary-0123456789"


def test_a_key_in_the_environment_wins_over_dotenv_and_that_over_the_keys_file(tmp_path: Path) -> None:
    write_key(tmp_path, "openrouter", "from-file")
    write_key(tmp_path, "anthropic", "from-file")
    write_key(tmp_path, "openai", "from-file")
    (tmp_path / ".env").write_text(
        '# keys\nexport ANTHROPIC_API_KEY="from-dotenv"\nOPENROUTER_API_KEY=from-dotenv\n'
    )
    settings = load_settings({"OPENROUTER_API_KEY": " from-environment \n"}, tmp_path, tmp_path)
    found = {name: (key.secret.get_secret_value(), key.source) for name, key in settings.keys.items()}
    assert found == {
        "openrouter": ("from-environment", "environment"),
        "anthropic": ("from-dotenv", ".env"),
        "openai": ("from-file", "keys file"),
    }


def test_nothing_that_is_shown_holds_a_key(tmp_path: Path) -> None:
    settings = load_settings({"OPENROUTER_API_KEY": KEY}, tmp_path, tmp_path)
    assert KEY not in repr(settings) + str(settings) + repr(settings.keys)


def test_keys_are_written_whole_and_for_their_owner_alone(tmp_path: Path) -> None:
    write_key(tmp_path / "new", "openrouter", 'with "quotes" and \\ in it')
    path = tmp_path / "new" / "keys.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_keys(tmp_path / "new") == {"openrouter": 'with "quotes" and \\ in it'}
    write_key(tmp_path / "new", "openrouter", "")
    assert read_keys(tmp_path / "new") == {}
    with pytest.raises(ConfigurationError, match="printable"):
        write_key(tmp_path, "openai", "line\nbreak")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("modle = 'x'", "modle"),
        ("call_timeout = 0", "call_timeout"),
        ("[limits.openrouter]\nin_flight = 0", "limits.openrouter.in_flight"),
        ("not toml", "not readable TOML"),
    ],
)
def test_a_configuration_that_does_not_fit_is_one_line_that_says_where(
    tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=says) as caught:
        load_settings({}, tmp_path, tmp_path)
    assert "config.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_call_keeps_its_providers_limit_and_its_models_own(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[limits.openrouter]\nin_flight = 8\n[limits."openrouter/slow/model"]\nrequests_per_minute = 3\n'
    )
    settings = load_settings({}, tmp_path, tmp_path)
    provider, model = Limits(None, None, 8), Limits(3, None, 64)
    assert settings.limits_for("openrouter", "slow/model") == {
        "openrouter": provider,
        "openrouter/slow/model": model,
    }
    assert settings.limits_for("openrouter", "other") == {"openrouter": provider}
    assert settings.limits_for("openai", "other") == {"openai/other": Limits()}


def test_flags_are_laid_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = 'ollama:a'\nmax_tokens = 100\n")
    settings = merged(load_settings({}, tmp_path, tmp_path), model="ollama:b", max_tokens=None)
    assert (settings.config.model, settings.config.max_tokens) == ("ollama:b", 100)
