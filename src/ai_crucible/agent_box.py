"""What starts an agent in its box: Inspect's model proxy, the way from it over the pipe, then the agent itself.

``python agent_box.py JSON`` with ``{"argv": [...], "proxy": PLACE, "services": PLACE}``. Stands alone: it is handed to
the box as text. The proxy leaves each question as a file, and waits for a file with the answer; the pipe is a socket.
"""

# pyright: basic
# ruff: noqa: PTH103, PTH104, PTH107, PTH115, PTH118, PTH123, PTH208
# It runs under whatever Python the box has.

import json
import os
import socket
import subprocess
import sys
import threading
import time

_LOOK_S = 0.02
_PORT = 13131


def main():
    """Start the proxy and the agent; end as the agent ends, or when the kernel says so."""
    wanted = json.loads(sys.argv[1])
    pipe = os.path.join(wanted["services"], "model.sock")
    place = os.path.join(os.readlink(os.path.join(wanted["services"], "bridge_model_service")), "agent")
    for name in ("requests", "responses"):
        os.makedirs(os.path.join(place, name))
    threading.Thread(target=heed, args=(pipe,), daemon=True).start()
    names = {"BRIDGE_MODEL_SERVICE_PORT": str(_PORT), "BRIDGE_MODEL_SERVICE_INSTANCE": "agent"}
    env, none = {**os.environ, **names}, subprocess.DEVNULL
    proxy = subprocess.Popen([wanted["proxy"], "model_proxy"], env=env, stdin=none, stdout=none, stderr=none)
    while proxy.poll() is None and socket.socket().connect_ex(("127.0.0.1", _PORT)):
        time.sleep(_LOOK_S)
    threading.Thread(target=carry, args=(pipe, place), daemon=True).start()
    code = subprocess.call(wanted["argv"])
    os._exit(code if code >= 0 else 128 - code)


def ask(pipe, question):
    """Return what the kernel answers; empty where it has hung up."""
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(pipe)
        one.sendall(question)
        one.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: one.recv(65536), b""))


def heed(pipe):
    """Wait until the kernel hangs up, which is the end."""
    try:
        ask(pipe, b'{"method": "wait"}')
    finally:
        os._exit(75)


def carry(pipe, place):
    """Carry questions out, and answers in."""
    while True:
        time.sleep(_LOOK_S)
        for name in os.listdir(os.path.join(place, "requests")):
            path = os.path.join(place, "requests", name)
            with open(path, "rb") as file:
                question = file.read()
            try:
                json.loads(question)
            except ValueError:
                continue  # it is still being written
            os.remove(path)
            threading.Thread(target=answer, args=(pipe, place, name, question), daemon=True).start()


def answer(pipe, place, name, question):
    """Write down what one question is answered with."""
    said = ask(pipe, question) or b'{"error": "no answer"}'
    with open(os.path.join(place, name), "wb") as file:
        file.write(said)
    os.rename(os.path.join(place, name), os.path.join(place, "responses", name))


if __name__ == "__main__":
    main()
