"""A witness of when a ledger was what it is: an RFC 3161 time stamp over its signed head.

Whoever holds the signing key can sign a ledger anew. A time-stamping authority that knows nothing of the ledger can
still say that this very head was there at a time, so that no other one can be passed off as older.
"""

from __future__ import annotations

import hashlib
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import urlsplit

from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.extras import needing
from llm_runtime.rewording import instead, reworded
from llm_runtime.store.anchor import SignedHead
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from rfc3161_client import TimeStampResponse

_FEATURE = "a witness (RFC 3161)"
_PATIENCE_S = 20.0
_MOST_BYTES = 1 << 20
#: By the object identifier that a stamp names: RFC 5754.
_HASHES = {
    "2.16.840.1.101.3.4.2.1": hashlib.sha256,
    "2.16.840.1.101.3.4.2.2": hashlib.sha384,
    "2.16.840.1.101.3.4.2.3": hashlib.sha512,
}


class WitnessFailed(LlmRuntimeError):
    """The witness gave no time stamp that holds."""

    exit_code = 4


class BadStamp(ValueError):
    """A time stamp does not hold for this head; the message says why."""


class Stamp(Struct):
    """What a time stamp says.

    Args:
        at: when, as ISO 8601 in UTC.
        by: who signed it, as its certificate names it; empty where none is in it.
        trusted: whether its certificates were followed to an authority that one trusts.
    """

    at: str
    by: str
    trusted: bool


def need_witness() -> None:
    """Refuse what cannot work without the extra.

    Raises:
        MissingExtraError: the package that reads time stamps is not installed.
    """
    with needing(_FEATURE, "witness"):
        import rfc3161_client  # noqa: F401  # pyright: ignore[reportUnusedImport]


def ask_witness(url: str, head: SignedHead) -> bytes:
    """Let an authority stamp a head; return its answer (DER), which holds for this head.

    Raises:
        ConfigurationError: the URL is none.
        MissingExtraError: the package that reads time stamps is not installed.
        WitnessFailed: it gave no stamp that holds.
    """
    need_witness()
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ConfigurationError(f"--witness {url}: give the http(s) address of a time-stamping authority")
    query = TimestampRequestBuilder(data=_stamped(head), hash_algorithm=HashAlgorithm.SHA256).build()
    answer = _post(url, query.as_bytes())
    with reworded(f"the witness {url}", BadStamp, kind=WitnessFailed, then="; nothing was written"):
        read_stamp(answer, head)
        if _decoded(answer).tst_info.nonce != query.nonce:
            raise BadStamp("it answers another request")
    return answer


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: whoever answers says nothing of where else this machine connects."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> None:
        """Name no other address, which makes the answer an error."""


def _post(url: str, query: bytes) -> bytes:
    headers = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
    request, end, data = urllib.request.Request(url, query, headers), time.monotonic() + _PATIENCE_S, b""
    try:
        with urllib.request.build_opener(_StayHere).open(request, timeout=_PATIENCE_S) as answer:
            while block := answer.read1(65536):
                data += block
                if len(data) > _MOST_BYTES or time.monotonic() > end:
                    raise TimeoutError("its answer does not end")
    except HTTPError as fault:
        raise WitnessFailed(f"the witness {url} answered with {fault.code}; nothing was written") from None
    except (OSError, HTTPException, ValueError) as fault:
        reason = " ".join(str(getattr(fault, "reason", "") or fault).split())[:200] or type(fault).__name__
        raise WitnessFailed(f"the witness {url} did not answer: {reason}; nothing was written") from None
    return data


def read_stamp(answer: bytes, head: SignedHead, roots: tuple[Certificate, ...] = ()) -> Stamp:
    """Return what a time stamp says of a head.

    Args:
        answer: the authority's, DER.
        head: what must have been stamped.
        roots: certificates of authorities that one trusts, and those between; none leaves that open.

    Raises:
        BadStamp: it is none, is one of something else, or does not lead to the authorities.
        MissingExtraError: the package that reads time stamps is not installed.
    """
    need_witness()
    from cryptography.x509 import load_der_x509_certificate
    from rfc3161_client import VerificationError, VerifierBuilder

    stamp = _decoded(answer)
    try:
        if stamp.status != 0:
            raise BadStamp(f"the authority refused it ({'; '.join(stamp.status_string) or stamp.status})")
        imprint = stamp.tst_info.message_imprint
        make = _HASHES.get(imprint.hash_algorithm.dotted_string)
        if make is None or make(_stamped(head)).digest() != imprint.message:
            raise BadStamp("it is a time stamp of something else")
        signers = {(one.issuer, one.serial_number) for one in stamp.signed_data.signer_infos}
        certificates = [load_der_x509_certificate(data) for data in stamp.signed_data.certificates]
        by = [one.subject.rfc4514_string() for one in certificates if (one.issuer, one.serial_number) in signers]
        if roots:
            VerifierBuilder(roots=list(roots)).build().verify(stamp, imprint.message)
        return Stamp(stamp.tst_info.gen_time.isoformat(timespec="seconds"), by[0] if by else "", bool(roots))
    except VerificationError as fault:
        raise BadStamp(f"it does not lead to an authority that was named ({fault})") from None
    except BadStamp:
        raise
    except Exception as fault:  # what the library finds in damaged data has no one kind
        raise BadStamp(f"it is cut off, or no time stamp ({type(fault).__name__})") from None


def read_authorities(path: str) -> tuple[Certificate, ...]:
    """Return the certificates in a file, PEM.

    Raises:
        ConfigurationError: it holds none.
    """
    from cryptography.x509 import load_pem_x509_certificates

    with instead(ConfigurationError(f"--witness-ca {path}: name a file of certificates (PEM)"), OSError, ValueError):
        return tuple(load_pem_x509_certificates(Path(path).read_bytes()))


def _decoded(answer: bytes) -> TimeStampResponse:
    from rfc3161_client import decode_timestamp_response

    with instead(BadStamp("it is cut off, or no time stamp"), ValueError):
        return decode_timestamp_response(answer)


def _stamped(head: SignedHead) -> bytes:
    return head.head.signed_bytes() + head.signature
