"""Reads frames as they come."""

from parley.events import Fault
from parley.heads import read
from parley.messages import Messages


class Reader:
    """Takes bytes and ticks, and returns events."""

    def __init__(self, patience=5, most=4096):
        self.messages = Messages(patience, most)
        self.closed = False

    def feed(self, data):
        """Take bytes; return the events that are certain with them."""
        self._opened()
        events = []
        while data:
            line, _, data = data.partition(b"\n")
            head = read(line)
            if head is None:
                events.append(Fault("head"))
                continue
            body, data = data[: head.length], data[head.length :]
            if not data.startswith((b"\n", b"\r\n")):
                events.append(Fault("frame", head.id))
                continue
            data = data.partition(b"\n")[2]
            events += self.messages.whole(head, body)
        return events

    def tick(self, count=1):
        """Let ticks go by; return what was lost by then."""
        self._opened()
        return self.messages.tick(count)

    def close(self):
        """End the connection; return what it leaves unfinished."""
        self.closed = True
        return self.messages.close()

    def _opened(self):
        if self.closed:
            raise ValueError("the connection was closed")
