"""Which family a model is of: a registry with aliases, so that no model judges its kin under another name."""

from __future__ import annotations

import re
import unicodedata

#: A family and the words that give it away. What comes first wins; distilled and merged models name two.
FAMILIES: dict[str, tuple[str, ...]] = {
    "claude": ("claude", "anthropic", "sonnet", "opus", "haiku"),
    "gpt": ("gpt", "openai", "chatgpt", "o1", "o3", "o4", "davinci", "codex"),
    "gemini": ("gemini", "gemma", "palm", "bard", "google", "deepmind"),
    "llama": ("llama", "meta", "metallama", "vicuna", "alpaca", "hermes", "nemotron"),
    "mistral": ("mistral", "mixtral", "codestral", "ministral", "magistral", "devstral", "pixtral", "zephyr"),
    "qwen": ("qwen", "qwq", "tongyi", "alibaba"),
    "deepseek": ("deepseek",),
    "grok": ("grok", "xai"),
    "command": ("command", "cohere", "aya"),
    "phi": ("phi",),
    "glm": ("glm", "chatglm", "zhipu", "zai"),
    "kimi": ("kimi", "moonshot", "moonshotai"),
    "nova": ("nova", "amazon", "titan"),
    "yi": ("yi", "01ai"),
    "granite": ("granite", "ibm"),
    "jamba": ("jamba", "ai21"),
    "olmo": ("olmo", "allenai", "tulu"),
    "minimax": ("minimax", "abab"),
    "mock": ("mockllm",),
}
#: These make many families available and are of none.
_HOSTS = frozenset(
    [
        "openrouter",
        "azure",
        "azureai",
        "bedrock",
        "vertex",
        "together",
        "groq",
        "fireworks",
        "ollama",
        "vllm",
        "hf",
        "huggingface",
        "lmstudio",
        "sambanova",
        "cloudflare",
        "perplexity",
        "openai-api",
        "anthropic-api",
        "llama-cpp-python",
        "llama.cpp",
        "sglang",
        "nnsight",
        "cf",
        "aws",
    ]
)


def families_of(model: str, aliases: dict[str, str] | None = None) -> frozenset[str]:
    """Return every family that a model's name gives away; empty for a name that tells none.

    >>> sorted(families_of("openrouter/anthropic/claude-sonnet-4"))
    ['claude']
    >>> sorted(families_of("deepseek/deepseek-r1-distill-llama-70b"))
    ['deepseek', 'llama']

    Args:
        model: a model id, hosts included.
        aliases: further names, whole ids or their last part, with the family of each.
    """
    plain = unicodedata.normalize("NFKC", model).casefold().strip()
    for name, family in (aliases or {}).items():
        if plain == name.casefold() or plain.rpartition("/")[2] == name.casefold():
            return frozenset({family.casefold()})
    families: set[str] = set()
    parts = plain.split("/")
    for place, part in enumerate(parts):
        host, _, served = part.partition(":")
        part = served if host in _HOSTS else part
        if part in _HOSTS or (place == 0 and len(parts) > 2 and part in ("openai", "anthropic", "google")):
            continue
        words = re.findall(r"[a-z]+|[a-z]?\d+[a-z]*", part) + re.findall(r"[a-z0-9]+", part)
        for family, names in FAMILIES.items():
            if any(word in names for word in words) or any(len(n) >= 5 and n in part for n in names):
                families.add(family)
    return frozenset(families)
