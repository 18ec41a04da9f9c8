"""Wires: ours and installed ones are found alike, and what one does not hold is refused before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_runtime import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.errors import ConfigurationError
from llm_runtime.gateway import Gateway
from llm_runtime.settings import ConfigFile, EndpointEntry, Settings, load_settings
from llm_runtime.wires import ALL, Held, Link, Wire, require_held, wire_of
from llm_runtime.wrappers.accounts import Caps

WIRE = """
from llm_runtime import Reply, Usage
from llm_runtime.dialects import Dialect
from llm_runtime.wires import Wire

def make(link):
    async def generate(request):
        return Reply(link.endpoint.base_url, request.model, link.endpoint.name, Usage(9, 1))
    return generate

ACME = Wire("acme", make, dialect=Dialect("acme", base_url="https://acme.example/v1", key_env="ACME_API_KEY"))
"""
QUESTION = Request("acme:tiny", (Message("user", "Is it so?"),), CallLabel("test", "ask"))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages: one with a wire, one whose wire is broken."""
    about = tmp_path / "site" / "acme-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    points = "acme = acme_wire:ACME\nbroken = acme_wire:NOTHING\nchat = acme_wire:ACME\n"
    (about / "entry_points.txt").write_text(f"[llm_runtime.wires]\n{points}")
    (tmp_path / "site" / "acme_wire.py").write_text(WIRE)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path


async def test_an_installed_wire_brings_its_address_and_the_name_of_its_key(site: Path) -> None:
    (site / "config.toml").write_text('[endpoints.acme]\n[endpoints.ours]\nbase_url = "http://127.0.0.1:1/v1"\n')
    settings = load_settings({"ACME_API_KEY": "a-key-0123456789", "ASSAY_LOCAL_SERVERS": ""}, site, site)
    async with Gateway(settings) as gateway:
        reply = await gateway.generate(QUESTION)
    assert (reply.text, reply.provider) == ("https://acme.example/v1", "acme")
    assert settings.keys["acme"].secret.get_secret_value() == "a-key-0123456789"
    assert settings.endpoint("ours").dialect.wire == "chat"


def test_an_installed_wire_takes_no_name_of_ours(site: Path) -> None:
    assert wire_of("chat").name == "chat" and wire_of("chat").holds == ALL


def test_a_wire_that_cannot_be_loaded_is_one_line(site: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^acme_wire:NOTHING cannot be loaded: AttributeError"):
        wire_of("broken")
    (site / "config.toml").write_text('[endpoints.mine]\ndialect = "broken"\nbase_url = "http://127.0.0.1:1"\n')
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        load_settings({}, site, site)
    (site / "config.toml").write_text('[endpoints.mine]\ndialect = "nobody"\n')
    with pytest.raises(ConfigurationError, match=r"there is no dialect 'nobody'.*acme"):
        load_settings({}, site, site)


@pytest.mark.parametrize("one", sorted(ALL))
def test_each_thing_that_is_not_held_is_refused_by_its_name(one: Held) -> None:
    def make(link: Link) -> Generate:
        async def generate(request: Request) -> Reply:
            return Reply("", request.model, "", Usage(0, 0))

        return generate

    require_held(Wire("whole", make, ALL), ALL, "service")
    with pytest.raises(ConfigurationError, match=r"^service: its wire partly does not hold "):
        require_held(Wire("partly", make, ALL - {one}), ALL, "service")


@pytest.mark.parametrize(
    ("config", "caps"),
    [
        (ConfigFile(max_tokens=5), Caps()),
        (ConfigFile(effort="low"), Caps()),
        (ConfigFile(), Caps(cost=1_000_000)),
        (ConfigFile(), Caps(tokens=9_000)),
    ],
)
async def test_a_bound_that_would_not_hold_is_refused_for_every_model_of_a_run(
    site: Path, config: ConfigFile, caps: Caps
) -> None:
    entry = EndpointEntry(dialect="acme", base_url="http://127.0.0.1:1")
    seats = {"critic": "acme:tiny", "writer": "terminal:"}
    config = config.model_copy(update={"endpoints": {"acme": entry}, "seats": seats, "model": "terminal:"})
    async with Gateway(Settings(config=config, environment={"ASSAY_LOCAL_SERVERS": ""}), caps=caps) as gateway:
        with pytest.raises(ConfigurationError, match="acme: its wire acme does not hold"):
            await gateway.ready()


async def test_calls_and_time_bound_a_run_over_any_wire(site: Path) -> None:
    config = ConfigFile(endpoints={"acme": EndpointEntry(base_url="http://127.0.0.1:1")}, model="acme:tiny")
    settings = Settings(config=config, environment={"ASSAY_LOCAL_SERVERS": ""})
    async with Gateway(settings, caps=Caps(calls=1, seconds=60)) as gateway:
        assert (await gateway.ready()).provider == "acme"
        assert (await gateway.generate(QUESTION)).text == "http://127.0.0.1:1"
