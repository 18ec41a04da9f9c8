"""Pictures as models are sent them: PNG, JPEG, WebP and GIF, walked block by block and never decoded.

Only the blocks that make the picture are kept. What a camera or a program wrote beside it (where it was taken, by
whom, other files behind its end) does not leave the machine. Formats: the PNG specification (W3C), ITU T.81,
RFC 9649, GIF89a.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

from llm_runtime.documents.reading import DocumentError, library
from llm_runtime.messages import Picture

#: What every vendor takes: bytes, so that it is below 5 MB in base64, and pixels a side.
MOST_BYTES, MOST_SIDE = 3_750_000, 8_000
#: Pixels of a scanned page's longer side: what most models read at the most.
_PAGE_SIDE = 1_568
_ENDINGS = re.compile(r"(?i)\.(a?png|jpe?g?|jfif|webp|gif|svgz?|bmp|tiff?|hei[cf]|avif|ico|jxl|psd)$")
_URL = re.compile(r"data:image/[a-z0-9.+-]{1,40};base64,", re.IGNORECASE)
_Read = tuple[bytes, int, int]

_PNG = b"\x89PNG\r\n\x1a\n"
_PNG_KEPT = frozenset({b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"pHYs"})
_JFIF = b"\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
#: Blocks of others, all but Adobe's, which says what the colours are; and those that say how large a picture is.
_APART, _FRAMES = frozenset({*range(0xE0, 0xF0), 0xFE}) - {0xEE}, frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
#: Where the data of a scan ends: a marker that is neither a stuffed byte nor a restart.
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_WEBP_KEPT = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH"})


def is_picture(name: str, data: bytes) -> bool:
    """Tell whether a file is meant as a picture, by how it begins or by its name, of whatever kind it is."""
    return bool(_ENDINGS.search(name)) or any(data.startswith(magic) for magic in _READERS)


def read_picture(name: str, data: bytes) -> Picture:
    """Return a picture without what does not belong to it; read twice, it is the same.

    A JPEG keeps which side is up.

    Raises:
        DocumentError: it is of another kind, broken, animated, too large, or has too many pixels.
    """
    if len(data) > MOST_BYTES:
        raise DocumentError(f"{name} has {len(data):,} bytes, and a picture may have {MOST_BYTES:,}; scale it down")
    found = next((magic for magic in _READERS if data.startswith(magic)), b"")
    if not found or (found == b"RIFF" and data[8:12] != b"WEBP"):
        raise DocumentError(f"{name} is no PNG, JPEG, WebP or GIF, which models take; save it as one of these")
    kind, read = _READERS[found]
    try:
        kept, width, height = read(data)
    except (struct.error, IndexError):
        raise DocumentError(f"{name} breaks off before its end; save it again") from None
    except ValueError as fault:
        raise DocumentError(f"{name} {fault}") from None
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE):
        size = f"{width:,} × {height:,} pixels, and a side may have 1 to {MOST_SIDE:,}"
        raise DocumentError(f"{name} has {size}; scale it, or cut out what matters")
    digest = hashlib.sha256(kept).hexdigest()
    return Picture(digest, f"image/{kind}", width, height, base64.b64encode(kept).decode())


def picture_at(name: str, address: str) -> Picture:
    """Return the picture in a ``data:`` address, whatever kind that says it is.

    Raises:
        DocumentError: it is none; other addresses are not followed.
    """
    if (head := _URL.match(address)) is None:
        raise DocumentError(f"{name} must be data:image/png;base64,… with the picture itself, and no other address")
    try:
        return read_picture(name, base64.b64decode(address[head.end() :], validate=True))
    except binascii.Error:
        raise DocumentError(f"{name} is not in base64; encode it again") from None


def _png(data: bytes) -> _Read:
    at, kept, kind = len(_PNG), [_PNG], b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        if zlib.crc32(data[at + 4 : at + 8 + length]) != check:
            raise ValueError(_DAMAGED)
        if kind == b"acTL":
            raise ValueError(_ANIMATED)
        if kind in _PNG_KEPT:
            kept.append(data[at : at + 12 + length])
        at += 12 + length
    if len(kept) < 4 or kept[1][4:8] != b"IHDR":
        raise ValueError(_DAMAGED)
    return (b"".join(kept), *struct.unpack_from(">II", kept[1], 8))


def _jpeg(data: bytes) -> _Read:
    kept, width, height, scans = [b"\xff\xd8"], 0, 0, 0
    for marker, block in _segments(data):
        if marker in _APART:
            block = _upright(block) if marker == 0xE1 else _JFIF if block[4:9] == b"JFIF\0" else b""
        elif marker in _FRAMES:
            high, wide = struct.unpack_from(">HH", block, 5)
            width, height = max(width, wide), max(height, high)
        kept.append(block)
        scans += marker == 0xDA
    if not scans:
        raise ValueError(_DAMAGED)
    return b"".join([*kept, b"\xff\xd9"]), width, height


def _segments(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the markers of a JPEG up to its end, each with its block; that of a scan has the scan's data, too."""
    at = 2
    while data[at : at + 2] != b"\xff\xd9":
        if data[at] != 0xFF or (marker := data[at + 1]) < 0xC0:
            raise ValueError(_DAMAGED)
        if marker == 0xFF:
            at += 1
            continue
        end = at + 2 + max(struct.unpack_from(">H", data, at + 2)[0], 2)
        over = _MARKER.search(data, end) if marker == 0xDA else None
        if end > len(data) or (marker == 0xDA and over is None):
            raise IndexError
        end = over.start() if over else end
        yield marker, data[at:end]
        at = end


def _upright(block: bytes) -> bytes:
    """Return a block that says which side is up, and nothing else; empty where the camera did not."""
    exif = block[4:]
    order = {b"II": "<", b"MM": ">"}.get(exif[6:8])
    if not exif.startswith(b"Exif\0\0") or order is None or len(exif) < 16:
        return b""
    base = 6 + struct.unpack_from(f"{order}I", exif, 10)[0]
    count = struct.unpack_from(f"{order}H", exif, base)[0] if base + 2 <= len(exif) else 0
    for at in range(base + 2, min(base + 2 + 12 * count, len(exif) - 11), 12):
        tag, _, _, value = struct.unpack_from(f"{order}HHIH", exif, at)
        if tag == 0x0112 and 1 <= value <= 8:
            tiff = struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, 0x0112, 3, 1, value, 0, 0)
            return struct.pack(">HH6s", 0xFFE1, 8 + len(tiff), b"Exif\0\0") + tiff
    return b""


def _webp(data: bytes) -> _Read:
    end = 8 + struct.unpack_from("<I", data, 4)[0]
    at, kept, width, height = 12, list[bytes](), 0, 0
    while at < end:
        kind, length = struct.unpack_from("<4sI", data, at)
        block = data[at : at + 8 + length + length % 2]
        if len(block) < 8 + length:
            raise IndexError
        if kind in (b"ANIM", b"ANMF"):
            raise ValueError(_ANIMATED)
        size = (0, 0)
        if kind == b"VP8 ":
            size = tuple(side & 0x3FFF for side in struct.unpack_from("<HH", block, 14))
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", block, 9)
            size = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        elif kind == b"VP8X":
            size = tuple(int.from_bytes(block[start : start + 3], "little") + 1 for start in (12, 15))
            # Colour profile, EXIF and XMP are left out, and no longer announced.
            block = block[:8] + bytes([block[8] & 0x10]) + block[9:]
        width, height = max(width, size[0]), max(height, size[1])
        if kind in _WEBP_KEPT:
            kept.append(block)
        at += len(block)
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body, width, height


def _gif(data: bytes) -> _Read:
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    at = 13 + _colours(flags)
    kept, pictures = [data[:at]], 0
    while data[at] != 0x3B:
        start, picture = at, data[at] == 0x2C
        if picture:
            left, top, wide, high, flags = struct.unpack_from("<HHHHB", data, at + 1)
            width, height, pictures = max(width, left + wide), max(height, top + high), pictures + 1
            at += 11 + _colours(flags)
        elif data[at] == 0x21:
            at += 2
        else:
            raise ValueError(_DAMAGED)
        if pictures > 1:
            raise ValueError(_ANIMATED)
        while data[at]:
            at += data[at] + 1
        at += 1
        # Of what is no picture, only how it is drawn: what is transparent.
        if picture or data[start + 1] == 0xF9:
            kept.append(data[start:at])
    if not pictures:
        raise ValueError(_DAMAGED)
    return b"".join([*kept, b"\x3b"]), width, height


def _colours(flags: int) -> int:
    """Return the bytes of the table of colours that flags announce."""
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


_DAMAGED = "is damaged; save it again"
_ANIMATED = "is animated, and models see one frame; save the one that matters"
_READERS: dict[bytes, tuple[str, Callable[[bytes], _Read]]] = {
    _PNG: ("png", _png),
    b"\xff\xd8\xff": ("jpeg", _jpeg),
    b"RIFF": ("webp", _webp),
    b"GIF87a": ("gif", _gif),
    b"GIF89a": ("gif", _gif),
}


def scanned_pages(name: str, data: bytes, most: int) -> list[tuple[int, Picture]]:
    """Return the pages of a PDF without text as grey pictures, each with its number; empty pages are passed over.

    Raises:
        DocumentError: it is damaged or empty, has more than ``most`` such pages, or one too large to unpack.
        MissingExtraError: the extra ``import`` is not installed.
    """
    pdfium, pages = library("pypdfium2", name), list[tuple[int, Picture]]()
    with closing(pdfium.PdfDocument(data)) as document:
        for number, page in enumerate(document, 1):
            images = [one.get_px_size() for one in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE])]
            if any(width * height > MOST_SIDE**2 for width, height in images):
                raise DocumentError(
                    f"{name}: page {number} has a picture of too many pixels; scan it more coarsely"
                )
            if len(pages) == most and images:
                raise DocumentError(f"{name} has more than {most} scanned pages; attach those that matter")
            if images:
                bitmap = page.render(scale=_PAGE_SIDE / max(page.get_size()), grayscale=True)
                pages.append((number, read_picture(name, _grey(bitmap))))
    if not pages:
        raise DocumentError(f"{name} is empty: it has neither text nor pictures")
    return pages


def _grey(bitmap: Any) -> bytes:
    """Return a bitmap of a byte a pixel as PNG."""
    width, height, stride, raw = bitmap.width, bitmap.height, bitmap.stride, bytes(bitmap.buffer)
    lines = b"".join(b"\0" + raw[at * stride : at * stride + width] for at in range(height))
    blocks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(lines, 6))]
    return _PNG + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in [*blocks, (b"IEND", b"")]
    )
