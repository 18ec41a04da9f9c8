"""Where keys and configuration are found, and what is said of files that do not fit."""

from __future__ import annotations

from collections.abc import Iterator
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
    (tmp_path / ".env").write_text('# keys\nexport ANTHROPIC_API_KEY="from-dotenv"\nOPENROUTER_API_KEY=from-dotenv\n')
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


def test_a_file_of_an_editor_that_marks_its_order_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "keys.toml").write_text('openai = "one"\n', encoding="utf-8-sig")
    write_key(tmp_path, "mistral", "two")
    assert read_keys(tmp_path) == {"openai": "one", "mistral": "two"}


def test_keys_are_written_whole_and_for_their_owner_alone(tmp_path: Path) -> None:
    write_key(tmp_path / "new", "openrouter", 'with "quotes" and \\ in it')
    path = tmp_path / "new" / "keys.toml"
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_keys(tmp_path / "new") == {"openrouter": 'with "quotes" and \\ in it'}
    write_key(tmp_path / "new", "openrouter", "")
    assert read_keys(tmp_path / "new") == {}
    with pytest.raises(ConfigurationError, match="printable"):
        write_key(tmp_path, "openai", "line\nbreak")
    with pytest.raises(ConfigurationError, match="ASCII"):
        write_key(tmp_path, "openai", "sk-\u200b1")  # pasted from a page


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("modle = 'x'", "modle"),
        ("call_timeout = 0", "call_timeout"),
        ("[limits.openrouter]\nin_flight = 0", "limits.openrouter.in_flight"),
        ("not toml", "not readable TOML"),
        ("model = '\udcff'", r"no TOML: it is not UTF-8 text \(byte 9\)$"),
    ],
)
def test_a_configuration_that_does_not_fit_is_one_line_that_says_where(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "config.toml").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(ConfigurationError, match=says) as caught:
        load_settings({}, tmp_path, tmp_path)
    assert "config.toml" in str(caught.value) and "\n" not in str(caught.value)


def test_a_call_keeps_its_providers_limit_and_its_models_own(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        '[limits.openrouter]\nin_flight = 8\n[limits."openrouter/slow/model"]\nrequests_per_minute = 3\n'
    )
    settings = load_settings({}, tmp_path, tmp_path)
    provider, model = Limits(in_flight=8), Limits(requests_per_minute=3)
    assert settings.limits_for("openrouter", "slow/model") == {"openrouter": provider, "openrouter/slow/model": model}
    assert settings.limits_for("openrouter", "other") == {"openrouter": provider}
    assert settings.limits_for("openai", "other") == {"openai/other": Limits()}


def test_flags_are_laid_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = 'ollama:a'\nmax_tokens = 100\n")
    settings = merged(load_settings({}, tmp_path, tmp_path), model="ollama:b", max_tokens=None)
    assert (settings.config.model, settings.config.max_tokens) == ("ollama:b", 100)


def test_flags_set_nothing_that_they_do_not_name(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("model = 'ollama:a'\n[limits.ollama]\nrequests_per_minute = 3\n")
    settings = load_settings({}, tmp_path, tmp_path)
    other = merged(settings, model="ollama:b").config.limits["ollama"]
    assert other.model_fields_set == {"requests_per_minute"}
    assert merged(settings, model="ollama:a", max_tokens=None, seats={}) is settings


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("modle = 'x'", "endpoints.work.modle"),
        ("dialect = 'klingon'", "there is no dialect 'klingon'; those that there are: openrouter, anthropic"),
        ("base_url = 'models.example.org'", "the base URL of work must look like https://host/path"),
        ("base_url = 'https://user:word@models.example.org'", "without user"),
        ("base_url = 'http://models.example.org/v1'\nkey = 'env:WORK'", "that is not this machine"),
        ("base_url = 'http://models.example.org'\nheaders = {X-Api-Key = 'one'}", "use https://"),
        ("base_url = 'http://models.example.org'\nquery = {api_key = 'one'}", "use https://"),
        ("key = 'sk-or-v1-in-plain-sight'", "endpoints.work.key: write env:VARIABLE or keyring"),
        ("base_url = 'https://models.example.org'\nkey = 'env:NOT_SET'", "NOT_SET is set neither here nor in .env"),
        ("dialect = 'azure'", "work has no address: write base_url under [endpoints.work]"),
        ("base_url = 'https://models.example.org'\nin_flight = 0", "endpoints.work.in_flight"),
        ("base_url = 'https://models.example.org'\nheaders = {a = 'ü'}", "cannot be sent"),
    ],
)
def test_an_endpoint_that_does_not_fit_is_one_line(tmp_path: Path, table: str, says: str) -> None:
    (tmp_path / "config.toml").write_text(f"[endpoints.work]\n{table}\n")
    with pytest.raises(ConfigurationError) as caught:
        load_settings({"WORK": KEY}, tmp_path, tmp_path)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value) and KEY not in str(caught.value) and caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["http", "mailbox", "a/b", "a:b", ""])
def test_an_endpoint_needs_a_name_that_can_stand_before_a_colon(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.toml").write_text(f"[endpoints.'{name}']\nbase_url = 'https://models.example.org'\n")
    with pytest.raises(ConfigurationError, match="endpoints"):
        load_settings({}, tmp_path, tmp_path)


def test_an_endpoint_of_ones_own_has_all_that_its_table_says(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        """
[endpoints.work]
dialect = "azure"
base_url = "https://acme.openai.azure.com/openai/v1"
key = "env:WORK_KEY"
headers = {X-Team = "red"}
query = {api-version = "preview"}
context = 128000
in_flight = 4
body = {service_tier = "flex"}

[endpoints.groq]
in_flight = 2

[endpoints.box]
dialect = "vllm"
base_url = "http://10.0.0.7:8000/v1"
"""
    )
    settings = load_settings({"WORK_KEY": KEY, "GROQ_API_KEY": "gsk-0123456789"}, tmp_path, tmp_path)
    assert settings.providers == ("work", "groq", "box")
    work, groq, box = map(settings.endpoint, settings.providers)
    assert (work.dialect.name, work.dialect.auth) == ("azure", "api-key")
    assert work.key and work.key.get_secret_value() == KEY
    assert (work.headers, work.query) == ((("X-Team", "red"),), (("api-version", "preview"),))
    assert (work.context, work.in_flight, work.body) == (128_000, 4, {"service_tier": "flex"})
    assert KEY not in repr(work)
    assert groq.base_url == "https://api.groq.com/openai/v1", "what a table leaves out is the vendor's"
    assert groq.key and groq.key.get_secret_value() == "gsk-0123456789"
    assert box.key is None and box.dialect.local
    assert settings.limits_for("work", "gpt")["work"].in_flight == 4


def test_a_vendors_key_goes_to_nobody_elses_address(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "[endpoints.mirror]\ndialect = 'openai'\nbase_url = 'https://mirror.example.org/v1'\n"
        "[endpoints.second]\ndialect = 'openai'\n"
    )
    settings = load_settings({"OPENAI_API_KEY": KEY}, tmp_path, tmp_path)
    assert settings.endpoint("mirror").key is None
    assert settings.endpoint("second").key is not None, "at the vendor's own address it does"
    write_key(tmp_path, "mirror", "sk-mirror-0123456789")
    stored = load_settings({}, tmp_path, tmp_path).endpoint("mirror").key
    assert stored and stored.get_secret_value() == "sk-mirror-0123456789"


def test_dotenv_is_read_as_its_own_tools_read_it(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "OPENROUTER_API_KEY=sk-or-0123456789 # my key\n"
        'export ANTHROPIC_API_KEY="sk-ant-0123456789"   # quoted\n'
        "OPENAI_API_KEY='sk-$HOME-0123456789'\n"
        "GROQ_API_KEY=gsk-$NOT_FILLED_IN\n"
        "MISTRAL_API_KEY\n"
        "this is no line of such a file\n"
    )
    settings = load_settings({}, tmp_path, tmp_path)
    assert {name: key.secret.get_secret_value() for name, key in settings.keys.items()} == {
        "openrouter": "sk-or-0123456789",
        "anthropic": "sk-ant-0123456789",
        "openai": "sk-$HOME-0123456789",
        "groq": "gsk-$NOT_FILLED_IN",
    }


@pytest.fixture
def keyring_of_a_desktop() -> Iterator[dict[tuple[str, str], str]]:
    """A keyring that is real to the library: what it holds."""
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")
    held: dict[tuple[str, str], str] = {}

    class Desktop(backend.KeyringBackend):
        priority = 5

        def get_password(self, service: str, username: str) -> str | None:
            return held.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            held[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del held[service, username]

    before = keyring.get_keyring()
    keyring.set_keyring(Desktop())
    yield held
    keyring.set_keyring(before)


def test_a_desktops_keyring_holds_the_keys(tmp_path: Path, keyring_of_a_desktop: dict[tuple[str, str], str]) -> None:
    assert "keyring" in write_key(tmp_path, "openrouter", KEY)
    assert keyring_of_a_desktop == {("assay", "openrouter"): KEY}
    assert KEY not in (tmp_path / "keys.toml").read_text()
    key = load_settings({}, tmp_path, tmp_path).keys["openrouter"]
    assert (key.secret.get_secret_value(), key.source) == (KEY, "keyring")
    write_key(tmp_path, "openrouter", "")
    assert not keyring_of_a_desktop and not load_settings({}, tmp_path, tmp_path).keys


def test_without_a_desktop_keys_lie_in_the_file(tmp_path: Path) -> None:
    keyring = pytest.importorskip("keyring")
    fail = pytest.importorskip("keyring.backends.fail")
    before = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    try:
        assert "keys.toml" in write_key(tmp_path, "openrouter", KEY)
    finally:
        keyring.set_keyring(before)
    assert load_settings({}, tmp_path, tmp_path).keys["openrouter"].source == "keys file"
