"""Who asks: the launch's token, which is bound by nothing, or a key."""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from assay.api.keys import ApiKey, ApiKeys
from assay.api.refused import Refused
from assay.web.people import WHO, People
from llm_runtime.errors import ConfigurationError


class KeyGate:
    """Knows programs by what they show.

    Args:
        keys: of the programs.
        token: of the launch.
        people: of this server, where it has some.
    """

    def __init__(self, keys: ApiKeys, token: str, people: People | None = None) -> None:
        self._keys = keys
        self._people = people
        self._token = token

    def caller(self, headers: Mapping[str, str]) -> ApiKey | None:
        """Return the key that was shown, ``None`` for the launch's token; what follows is done for its person.

        Raises:
            Refused: none was, or one that opens nothing.
        """
        kind, _, shown = headers.get("authorization", "").partition(" ")
        shown = shown.strip()
        if kind.lower() != "bearer" or not shown:
            message = "no key: send Authorization: Bearer KEY; make one with: assay serve keys add"
            raise Refused(401, message, "no_key")
        if hmac.compare_digest(shown.encode(), self._token.encode()):
            return None
        try:
            key = self._keys.find(shown)
            person = self._people.all().get(key.person) if key and key.person and self._people else None
        except ConfigurationError:
            # What the file is called is nobody's business who has no key.
            message = "this server cannot read its keys; whoever runs it sees why with: assay serve keys list"
            raise Refused(500, message, "server_misconfigured", again=False) from None
        if key is None:
            raise Refused(401, "this key opens nothing here; see: assay serve keys list", "invalid_api_key")
        # A key of somebody who was removed is not of whoever has the name now.
        if key.person and (person is None or person.role == "reader" or key.since < person.since):
            raise Refused(403, "this key's person may not start runs here; ask an admin of this server", "not_allowed")
        WHO.set(person)
        return key

    def admits(self, headers: Mapping[str, str]) -> bool:
        """Tell whether what was shown still opens."""
        try:
            self.caller(headers)
        except Refused:
            return False
        return True
