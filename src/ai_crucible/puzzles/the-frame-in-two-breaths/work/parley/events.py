"""What a reader tells."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A whole message."""

    id: int
    text: str

    def __str__(self):
        return f"message {self.id} {self.text!r}"


@dataclass(frozen=True)
class Ping:
    """The other side asks whether we are there."""

    id: int

    def __str__(self):
        return f"ping {self.id}"


@dataclass(frozen=True)
class Stopped:
    """The other side took a message back."""

    id: int

    def __str__(self):
        return f"stopped {self.id}"


@dataclass(frozen=True)
class Lost:
    """A message did not go on."""

    id: int

    def __str__(self):
        return f"lost {self.id}"


@dataclass(frozen=True)
class Fault:
    """What cannot be read."""

    what: str
    id: int = 0

    def __str__(self):
        return f"fault {self.what} {self.id}"
