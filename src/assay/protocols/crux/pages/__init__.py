"""The addresses of debates in the web application: the persona library, and a debate as an event stream."""

from __future__ import annotations

from assay.protocols.crux.pages import dialogue, people, voting
from assay.web.endpoints import Endpoint, with_fields

ADDRESSES = with_fields(
    __name__,
    (
        Endpoint("/api/personas", dialogue.list_personas, media="application/json", need="known"),
        Endpoint("/api/dialogue", dialogue.start_dialogue, "POST", media="text/event-stream", need="start"),
        Endpoint("/api/dialogue/{run_id}", dialogue.follow_dialogue, media="text/event-stream", need="see"),
        Endpoint("/api/dialogue/{run_id}/map", dialogue.show_map, media="application/json", need="see"),
        Endpoint("/api/personas", people.import_texts, "POST", media="application/json", need="admin"),
        Endpoint("/api/personas/{persona_id}", people.show_person, media="application/json", need="known"),
        Endpoint(
            "/api/personas/{persona_id}/build", people.build_person, "POST", media="application/json", need="admin"
        ),
        Endpoint("/personas", people.list_people, also_json=True, need="known", title="Personas"),
        Endpoint("/personas", people.import_texts, "POST", also_json=True, need="admin"),
        Endpoint("/personas/{persona_id}", people.show_person, also_json=True, need="known"),
        Endpoint(
            "/votes/{run_id}",
            voting.show_votes,
            also_json=True,
            need="see",
            title="Votes",
            kinds=("crux.compare", "crux.divide"),
        ),
        Endpoint("/votes/{run_id}", voting.vote, "POST", also_json=True, need="see"),
        Endpoint("/part/{run}/{key}", voting.show_part, need="open"),
        Endpoint("/part/{run}/{key}", voting.take_part, "POST", need="open"),
        Endpoint("/personas/{persona_id}/build", people.build_person, "POST", also_json=True, need="admin"),
    ),
)
