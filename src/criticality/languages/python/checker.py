"""A warm type checker: mypy's own server in a process of its own, asked over a pipe.

Run as ``python checker.py ROOT``: reads a line for each check and answers with a line of JSON. It checks what is on
disk below ``ROOT/src``; a second check after one body changed takes milliseconds.
"""

# pyright: basic
# ruff: noqa: PTH118
# Standard library only: this file is copied to where the tool itself is not.
import json
import os
import sys


def serve(root: str) -> None:
    """Answer checks until the pipe closes."""
    os.chdir(root)
    # Only what is passed here counts: no configuration file that lies in the project is read.
    from mypy.dmypy_server import Server
    from mypy.main import process_options

    # fmt: off
    sources, options = process_options(
        ["--config-file", os.devnull, "--strict", "--no-error-summary", "--hide-error-context", "--no-color-output",
         "--cache-dir", os.devnull, "--python-executable", sys.executable, "--", "src"],
        server_options=True,
    )
    # fmt: on
    server = Server(options, os.path.join(root, "status.json"))
    out = sys.stdout
    for line in sys.stdin:
        if line.strip() == "sources":
            sources, options = process_options(["--config-file", os.devnull, "--", "src"], server_options=True)
        answer = server.check(list(sources), False, False, 200)
        lines = [line.split(": error: ", 1) for line in (answer.get("out", "") + answer.get("err", "")).splitlines()]
        errors = [{"place": line[0], "message": line[1]} for line in lines if len(line) > 1]
        out.write(json.dumps({"errors": errors}) + "\n")
        out.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
