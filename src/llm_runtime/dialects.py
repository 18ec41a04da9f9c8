"""How vendors differ on the same wires: addresses, keys, and how each is told of schemas, effort and bounds.

What a single model does not take is no part of this table: it is learned from its refusals.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import TypeAdapter

from llm_runtime.messages import Effort
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

Auth: TypeAlias = Literal["bearer", "x-api-key", "api-key", "x-goog-api-key"]
SchemaForm: TypeAlias = Literal["plain", "strict", "messages", "object", "grammar"]
Level: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

#: What of a request a way to ask may be told.
Held: TypeAlias = Literal["max_tokens", "effort", "schema", "stream", "pictures"]
_LEVELS: tuple[Level, ...] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


class Dialect(Struct):
    """What an endpoint speaks, and where its vendor listens: a table of ``dialects.toml``.

    Args:
        name: of the vendor or the server.
        base_url: the vendor's address; empty where each customer or machine has one of its own.
        key_env: the variable that holds the key; empty where none is needed.
        vendor: what ids such as ``"google/gemini-pro"`` begin with; its name where left empty.
        wire: ``"chat"`` completions, Anthropic's ``"messages"``, Ollama's own, or one that is installed.
        auth: how the key travels: as bearer token, or in a header of this name.
        schema: how an answer's form is enforced. ``"plain"``: any JSON schema; ``"strict"``: OpenAI's part of it;
            ``"messages"``: Anthropic's; ``"object"``: JSON, but of no certain form; ``"grammar"``: any schema, and
            :attr:`Request.grammar <llm_runtime.messages.Request>` rather than the schema.
        drop: fields of a request that it does not take.
        effort: where in the body the reasoning effort goes, with dots between levels; empty where nowhere.
        efforts: the values that it takes there, least first.
        max_tokens_field: what it calls the upper bound of an answer.
        by_name: asked only where somebody names it: its key lies about for other reasons.
        general: a pattern that the names of its newest general models match, where a default must be chosen.
    """

    name: str
    base_url: str = ""
    key_env: str = ""
    vendor: str = ""
    wire: str = "chat"
    auth: Auth = "bearer"
    schema: SchemaForm = "plain"
    drop: frozenset[str] = frozenset()
    effort: str = "reasoning_effort"
    efforts: tuple[Level, ...] = ("low", "medium", "high")
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    general: str = ""
    by_name: bool = False

    @property
    def url_env(self) -> str:
        """The variable that replaces the address; empty where there is none."""
        return self.key_env.replace("_API_KEY", "_BASE_URL") if self.key_env.endswith("_API_KEY") else ""

    @property
    def local(self) -> bool:
        """Whether it is a server that people run themselves."""
        return self.schema == "grammar"

    def level(self, effort: Effort) -> Level:
        """Return what this dialect calls an effort: the same word, else the nearest that it takes.

        >>> DIALECTS["deepseek"].level("medium")
        'high'
        """
        wanted = _LEVELS.index(effort)
        return min(self.efforts, key=lambda level: (abs(_LEVELS.index(level) - wanted), -_LEVELS.index(level)))


#: By name; what answers for a plain id where several have a key is the first of them.
DIALECTS: Mapping[str, Dialect] = TypeAdapter(dict[str, Dialect]).validate_python(
    {name: {"name": name, **row} for name, row in own_table("llm_runtime", "dialects.toml").items()}
)
GENERIC = DIALECTS["generic"]
#: Those that take a key.
HOSTED: Mapping[str, Dialect] = {name: dialect for name, dialect in DIALECTS.items() if dialect.key_env}
#: Servers that people run themselves.
LOCAL: Mapping[str, Dialect] = {name: dialect for name, dialect in DIALECTS.items() if dialect.local}
#: A person or another program answers here: no timeout, no second try.
HUMAN_PROVIDERS = frozenset({"mailbox", "terminal"})
