"""Writes messages as frames."""


def frames(id, text, size):
    """Return a message as bytes; its frames have at most ``size`` bytes of body each."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    data = ""
    for number, piece in enumerate(pieces):
        more = " +" if number < len(pieces) - 1 else ""
        data += f"DATA {id} {len(piece)}{more}\n{piece}\n"
    return data.encode("utf-8")
