"""Messages that are under way."""

from dataclasses import dataclass

from parley.events import Fault, Lost, Message, Ping, Stopped


@dataclass
class Begun:
    """What was received of a message, and the tick at which its latest frame became whole."""

    data: bytes = b""
    at: int = 0


class Messages:
    """Puts frames together.

    ``begun`` has messages by id, the one last that has the latest frame; ``passed`` the ids whose frames are passed over.
    """

    def __init__(self, patience, most):
        self.patience = patience
        self.most = most
        self.now = 0
        self.begun = {}
        self.passed = set()

    def begins(self, head):
        """Take the head of a frame; return the events that come of it."""
        if head.kind != "DATA" or head.id in self.passed:
            return []
        if len(self.begun.get(head.id, Begun()).data) + head.length <= self.most:
            return []
        self.give_up(head.id)
        return [Fault("size", head.id)]

    def whole(self, head, body):
        """Take a whole frame; return the events that come of it."""
        if head.kind == "PING":
            return [Ping(head.id)]
        if head.kind == "STOP":
            self.passed.discard(head.id)
            return [Stopped(head.id)] if self.begun.pop(head.id, None) else []
        if head.id in self.passed:
            if not head.more:
                self.passed.remove(head.id)
            return []
        data = self.begun.pop(head.id, Begun()).data + body
        if head.more:
            self.begun[head.id] = Begun(data, self.now)
            return []
        try:
            return [Message(head.id, data.decode("utf-8"))]
        except UnicodeDecodeError:
            return [Fault("text", head.id)]

    def broken(self, head):
        """Take a frame that does not end as it should; return the events that come of it."""
        if head.kind == "DATA":
            self.give_up(head.id)
            if not head.more:
                self.passed.remove(head.id)
        return [Fault("frame", head.id)]

    def give_up(self, id):
        """Drop a message, and pass over its further frames."""
        self.begun.pop(id, None)
        self.passed.add(id)

    def tick(self, count):
        """Let time go by; return what was lost."""
        self.now += count
        late = [id for id, begun in self.begun.items() if self.now - begun.at >= self.patience]
        for id in late:
            self.give_up(id)
        return [Lost(id) for id in late]

    def close(self):
        """Return what is left as lost."""
        lost = [Lost(id) for id in self.begun]
        self.begun = {}
        return lost
