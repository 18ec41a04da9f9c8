"""Images out of a ``Dockerfile``, built by whatever builds them here, with its own isolation and network."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from pathlib import Path

from sandbox.errors import BadRoot

# What writes an image in a form that OCI's tools read: docker's own is one since version 25.
_WRITES = {
    "podman": "save --quiet --format oci-archive --output {archive} {tag}",
    "buildah": "push --quiet {tag} oci-archive:{archive}",
    "docker": "save --output {archive} {tag}",
}


def build_image(place: Path, archive: Path) -> None:
    """Build the image of a folder with a ``Dockerfile``, and write it as an OCI archive.

    Its ``RUN`` lines are run by podman, buildah or docker, whichever is found first, as ``docker build`` runs them.

    Raises:
        BadRoot: there is none of these here, or it does not build the image; says at what.
    """
    engine = next(filter(shutil.which, _WRITES), "")
    if not engine:
        raise BadRoot("nothing here builds images; install podman, buildah or docker")
    tag = f"localhost/assay-{secrets.token_hex(8)}:built"
    try:
        for words in ("build --tag {tag} {place}", _WRITES[engine]):
            argv = [engine, *(word.format(tag=tag, place=place, archive=archive) for word in words.split())]
            done = subprocess.run(argv, capture_output=True, text=True, check=False)
            if done.returncode:
                said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
                raise BadRoot(f"{engine} {argv[1]} failed: {' / '.join(said[-2:])[:300]}")
    finally:
        subprocess.run([engine, "rmi", "--force", tag], capture_output=True, check=False)
