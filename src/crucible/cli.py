"""The specification's own small chatbot (CR19): a thin, disposable client of the engine.

``python -m crucible.cli`` reads the key from OPENROUTER_API_KEY; ``-v`` starts with the trace on. For anything
beyond an experiment use ``assay ask``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import unicodedata

from crucible import Crucible, EngineConfig, ExecutorResult

BANNER = "Crucible v1.0\nType 'exit' to quit, 'trace on/off' to toggle observability\n"
NO_KEY = 78
READER_GONE = 141
_BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def main(arguments: list[str] | None = None) -> int:
    """Start a conversation with OpenRouter's models; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m crucible.cli", description="Ask a council; for experiments.")
    parser.add_argument("-v", "--verbose", action="store_true", help="start with the trace on")
    options = parser.parse_args(arguments)
    key = os.environ.get("OPENROUTER_API_KEY", "").strip()
    if not key:
        print("There is no model to ask; set OPENROUTER_API_KEY to a key of openrouter.ai.", file=sys.stderr)
        return NO_KEY
    try:
        converse(EngineConfig(openrouter_api_key=key, observability=options.verbose))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read has gone. What is still buffered goes nowhere, or leaving would meet the same fault again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE
    return 0


def converse(config: EngineConfig) -> None:
    """Read questions from standard input until ``exit`` or its end, and print the answers."""
    engine = Crucible(config)
    print(BANNER)
    while True:
        try:
            line = input("> ").strip()
        except EOFError:
            return
        match line:
            case "":
                continue
            case "exit":
                return
            case "trace on" | "trace off":
                observing = line == "trace on"
                config = config.model_copy(update={"observability": observing})
                engine = Crucible(config)
                print(f"Observability {'enabled' if observing else 'disabled'}.\n")
            case _:
                try:
                    result = asyncio.run(engine.run(line))
                except Exception as fault:
                    print(f"\n{plain(f'{type(fault).__name__}: {fault}')}\n")
                else:
                    show(result)


def show(result: ExecutorResult) -> None:
    """Print what happened, the answer, and the trace where there is one."""
    loops = f"{result.loops_executed} loops executed" if result.loops_executed else "short-circuited"
    print(f"\n[Processing... {loops}]\n\n{plain(result.final_response)}\n")
    for record in result.reasoning_trace or ():
        print(f"--- Loop {record.loop_number}, positions changed: {'yes' if record.delta_detected else 'no'}")
        for role, text in record.council_responses.items():
            print(f"\n{role.value}:\n{plain(text)}")
        print(f"\nred_team:\n{plain(record.red_team_critique)}\n")


def plain(text: str) -> str:
    """Remove control and bidirectional characters, so that a model cannot drive the terminal."""
    return "".join(c for c in text if c in "\n\t" or (unicodedata.category(c) != "Cc" and c not in _BIDIRECTIONAL))


if __name__ == "__main__":
    sys.exit(main())
