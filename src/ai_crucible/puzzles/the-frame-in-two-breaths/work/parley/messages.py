"""Messages that are under way."""

from parley.events import Fault, Lost, Message, Ping, Stopped


class Messages:
    """Puts frames together; ``parts`` has the texts of messages that were begun, by id."""

    def __init__(self, patience, most):
        self.patience = patience
        self.most = most
        self.parts = {}
        self.idle = 0

    def whole(self, head, body):
        """Take a whole frame; return the events that come of it."""
        self.idle = 0
        if head.kind == "PING":
            return [Ping(head.id)]
        if head.kind == "STOP":
            self.parts.pop(head.id, None)
            return [Stopped(head.id)]
        try:
            text = self.parts.pop(head.id, "") + body.decode("utf-8")
        except UnicodeDecodeError:
            return [Fault("text", head.id)]
        if len(text) > self.most:
            return [Fault("size", head.id)]
        if head.more:
            self.parts[head.id] = text
            return []
        return [Message(head.id, text)]

    def tick(self, count):
        """Let time go by; return what was lost."""
        self.idle += count
        if self.idle < self.patience:
            return []
        return self.close()

    def close(self):
        """Return what is left as lost."""
        lost = [Lost(id) for id in sorted(self.parts)]
        self.parts = {}
        return lost
