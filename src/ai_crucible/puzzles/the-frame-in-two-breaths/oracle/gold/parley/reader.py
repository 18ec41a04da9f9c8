"""Reads frames as they come."""

from parley.events import Fault
from parley.heads import LONGEST, read
from parley.messages import Messages


class Reader:
    """Takes bytes and ticks, and returns events.

    ``pending`` has the bytes of which nothing is certain yet. ``step`` is what is read next: it takes bytes off, and
    returns the events that come of it, or None where it has to wait for more.
    """

    def __init__(self, patience=5, most=4096):
        self.messages = Messages(patience, most)
        self.closed = False
        self.pending = bytearray()
        self.head = None
        self.step = self._head

    def feed(self, data):
        """Take bytes; return the events that are certain with them."""
        self._opened()
        self.pending += data
        events = []
        while (found := self.step()) is not None:
            events += found
        return events

    def tick(self, count=1):
        """Let ticks go by; return what was lost by then."""
        self._opened()
        return self.messages.tick(count)

    def close(self):
        """End the connection; return what it leaves unfinished."""
        amid = not self.closed and (self.pending or self.step != self._head)
        self.closed = True
        return [Fault("end")] * bool(amid) + self.messages.close()

    def _opened(self):
        if self.closed:
            raise ValueError("the connection was closed")

    def _head(self):
        end = self.pending.find(b"\n")
        line = bytes(self.pending[:end] if end >= 0 else self.pending)
        if end < 0 and len(line) - (len(line) == LONGEST + 1 and line.endswith(b"\r")) <= LONGEST:
            return None
        head = read(line.removesuffix(b"\r"))
        if head is None:
            self.step = self._rest
            return [Fault("head")]
        del self.pending[: end + 1]
        self.head, self.step = head, self._frame
        return self.messages.begins(head)

    def _frame(self):
        length = self.head.length
        end = bytes(self.pending[length : length + 2])
        if end in (b"", b"\r"):
            return None
        head, body = self.head, bytes(self.pending[:length])
        if end[:1] == b"\n" or end == b"\r\n":
            del self.pending[: length + end.index(b"\n") + 1]
            self.step = self._head
            return self.messages.whole(head, body)
        del self.pending[: length + 1]
        self.step = self._rest
        return self.messages.broken(head)

    def _rest(self):
        end = self.pending.find(b"\n")
        del self.pending[: end + 1 if end >= 0 else len(self.pending)]
        if end < 0:
            return None
        self.step = self._head
        return []
