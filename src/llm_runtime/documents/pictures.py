"""Pictures as models are sent them: PNG, JPEG, WebP and GIF, of one frame, without what stands beside them.

Size and frames are looked at before anything is decoded. What a camera or a program wrote beside the picture (where
it was taken, by whom, other files behind its end) does not leave the machine: it is saved again.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import warnings
from collections.abc import Mapping
from contextlib import closing
from io import BytesIO
from typing import Any

from llm_runtime.documents.reading import DocumentError, library
from llm_runtime.messages import Picture
from llm_runtime.rewording import instead

#: What every vendor takes: bytes, so that it is below 5 MB in base64, and pixels a side; and what is decoded here.
MOST_BYTES, MOST_SIDE, MOST_PIXELS = 3_750_000, 8_000, 25_000_000
#: Pixels of a scanned page's longer side: what most models read at the most.
_PAGE_SIDE = 1_568
_ENDINGS = re.compile(r"(?i)\.(a?png|jpe?g|jfif|webp|gif|svgz?|bmp|tiff?|hei[cf]|avif|ico|jxl|psd)$")
_BEGINNINGS = re.compile(rb"\x89PNG\r\n|\xff\xd8\xff|GIF8|RIFF....WEBP", re.DOTALL)
_URL = re.compile(r"data:image/[a-z0-9.+-]{1,40};base64,", re.IGNORECASE)
#: How each kind is saved again: with the least loss.
_SAVED: Mapping[str, Mapping[str, object]] = {
    "PNG": {},
    "JPEG": {"quality": "keep"},
    "WEBP": {"quality": 95},
    "GIF": {},
}
_ORIENTATION = 0x0112


def is_picture(name: str, data: bytes) -> bool:
    """Tell whether a file is meant as a picture, by how it begins or by its name, of whatever kind it is."""
    return bool(_ENDINGS.search(name) or _BEGINNINGS.match(data))


def read_picture(name: str, data: bytes) -> Picture:
    """Return a picture without what does not belong to it, turned upright.

    Raises:
        DocumentError: it is of another kind, broken, animated, too large, or has too many pixels.
        MissingExtraError: the extra ``import`` is not installed.
    """
    image, out = _opened(name, data), BytesIO()
    # The library raises what its decoders raise. It warns of metadata that are broken, and none of them goes on.
    damaged = instead(DocumentError(f"{name} is damaged; save it again"), Exception)
    with damaged, warnings.catch_warnings(action="ignore"):
        image.load()
        if _bare(image, data):
            return _picture(image.format, image.size, data)
        turned = image.getexif().get(_ORIENTATION, 1) != 1
        shown = library("PIL.ImageOps", "any.png").exif_transpose(image) if turned else image
        shown.info = {key: image.info[key] for key in ("transparency",) if key in image.info}
        how = {"quality": 95} if turned and image.format == "JPEG" else _SAVED[image.format]
        shown.save(out, image.format, **how)
    return _picture(image.format, shown.size, _bounded(name, out.getvalue()))


def _bare(image: Any, data: bytes) -> bool:
    """Tell whether nothing stands beside a picture that would lose by being saved again."""
    if image.format == "WEBP":
        length = int.from_bytes(data[16:20], "little")
        return data[12:16] in (b"VP8 ", b"VP8L") and 20 + length + length % 2 == len(data)
    return image.format == "JPEG" and data.endswith(b"\xff\xd9") and {*dict(image.applist)} <= {"APP0", "APP14"}


def picture_at(name: str, address: str, *, known: bool = False) -> Picture:
    """Return the picture in a ``data:`` address, whatever kind that says it is.

    Args:
        known: it was read before, and is taken as it is.

    Raises:
        DocumentError: it is none; other addresses are not followed.
    """
    if (head := _URL.match(address)) is None:
        raise DocumentError(f"{name} must be data:image/png;base64,… with the picture itself, and no other address")
    with instead(DocumentError(f"{name} is not in base64; encode it again"), binascii.Error):
        data = base64.b64decode(address[head.end() :], validate=True)
    if not known:
        return read_picture(name, data)
    image = _opened(name, data)
    return _picture(image.format, image.size, data)


def _opened(name: str, data: bytes) -> Any:
    """Return a picture of which no more than its head was read."""
    pillow = library("PIL.Image", "any.png")
    try:
        with warnings.catch_warnings(action="ignore"):
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            image = pillow.open(BytesIO(_bounded(name, data)), formats=tuple(_SAVED))
        # Of the pictures in one file that telephones write, the first is the photograph.
        image.format = "JPEG" if (several := image.format == "MPO") else image.format
        size, animated = image.size, not several and getattr(image, "is_animated", False)
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise _too_many(name) from None
    except DocumentError:
        raise
    except Exception:  # likewise
        raise DocumentError(f"{name} is no PNG, JPEG, WebP or GIF that models take; save it as one") from None
    if max(size) > MOST_SIDE or size[0] * size[1] > MOST_PIXELS:
        raise _too_many(name)
    if animated:
        raise DocumentError(f"{name} is animated, and models see one frame; save the one that matters")
    return image


def _too_many(name: str) -> DocumentError:
    most = f"{MOST_SIDE:,} a side and {MOST_PIXELS:,} in all are the limit"
    return DocumentError(f"{name} has too many pixels: {most}; scale it, or cut out what matters")


def _bounded(name: str, data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise DocumentError(f"{name} has {len(data):,} bytes, and a picture may have {MOST_BYTES:,}; scale it down")
    return data


def _picture(kind: str, size: tuple[int, int], data: bytes) -> Picture:
    return Picture(hashlib.sha256(data).hexdigest(), f"image/{kind.lower()}", *size, base64.b64encode(data).decode())


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
                raise DocumentError(f"{name}: page {number} has too many pixels; scan it more coarsely")
            if len(pages) == most and images:
                raise DocumentError(f"{name} has more than {most} scanned pages; attach those that matter")
            if images:
                out = BytesIO()
                page.render(scale=_PAGE_SIDE / max(page.get_size()), grayscale=True).to_pil().save(out, "PNG")
                pages.append((number, read_picture(name, out.getvalue())))
    if not pages:
        raise DocumentError(f"{name} is empty: it has neither text nor pictures")
    return pages
