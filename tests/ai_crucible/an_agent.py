"""A small agent: it asks its model what to do in chat completions, and runs each command that it is given."""

import json
import os
import subprocess
import sys
import urllib.request

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
TOOL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "run a command",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}


def ask(messages):
    """Return what the model says."""
    body = json.dumps({"model": "any", "messages": messages, "tools": [TOOL]}).encode()
    request = urllib.request.Request(URL, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


def main():
    """Work until the model asks for nothing more."""
    messages = [{"role": "user", "content": sys.stdin.read()}]
    while True:
        said = ask(messages)
        messages.append({name: said[name] for name in ("role", "content", "tool_calls") if said.get(name)})
        if not said.get("tool_calls") or "idle" in sys.argv:
            print(said["content"])
            return
        for call in said["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            print(done.stdout, done.stderr, file=sys.stderr)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})


main()
