"""Messages over a connection that carries bytes."""

from parley.events import Fault, Lost, Message, Ping, Stopped
from parley.reader import Reader
from parley.writer import frames

__all__ = ["Fault", "Lost", "Message", "Ping", "Reader", "Stopped", "frames"]
