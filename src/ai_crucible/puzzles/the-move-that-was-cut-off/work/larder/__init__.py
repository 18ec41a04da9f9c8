"""Records on a disk, in an old format or in a new one."""

from larder.disk import Disk, Folder
from larder.migrate import migrate
from larder.record import Record
from larder.store import LarderError, load, put

__all__ = ["Disk", "Folder", "LarderError", "Record", "load", "migrate", "put"]
