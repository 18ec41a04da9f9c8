"""Writes messages as frames."""


def frames(id, text, size):
    """Return a message as bytes; its frames have at most ``size`` bytes of body each."""
    data, written = text.encode("utf-8"), b""
    while len(data) > size:
        written += b"DATA %d %d +\n%b\n" % (id, size, data[:size])
        data = data[size:]
    return written + b"DATA %d %d\n%b\n" % (id, len(data), data)
