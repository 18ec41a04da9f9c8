"""The addresses of debates in the web application: the persona library, and a debate as an event stream."""

from __future__ import annotations

from assay.protocols.crux.pages import dialogue, people, voting
from assay.web.endpoints import TERMS, Endpoint

_TEXTS = (
    ("name", "whose texts they are; may be left out where they say so"),
    ("path", "a folder or file on this machine"),
    ("text", "or one text, as Markdown"),
)
_BUILD = (
    ("language", "in which claims are written, English where left out"),
    ("strict", "true keeps no persona where the claim book is thin"),
    *TERMS,
)
_DEBATE = (
    ("topic", "a question that can be answered yes or no"),
    ("personaIds", "who debates: two ids or more"),
    ("aspects", "rounds: 2, 3, 4 or auto"),
    ("recording", "true streams the recorded debate, which needs no model; speed as for /play"),
    *TERMS,
)

_VOTE = (
    ("reader", "a chance name, 8 to 64 letters, digits, - and _"),
    ("claim", "id of a claim of the page"),
    ("vote", "agree, disagree or pass; the last on a claim counts"),
)

ADDRESSES = (
    Endpoint("/api/personas", dialogue.list_personas, media="application/json", need="known"),
    Endpoint(
        "/api/dialogue", dialogue.start_dialogue, "POST", body=_DEBATE, media="text/event-stream", need="start"
    ),
    Endpoint(
        "/api/dialogue/{run_id}",
        dialogue.follow_dialogue,
        query=(("after", "number of the last event that the reader has; Last-Event-ID goes before it"),),
        media="text/event-stream",
        need="see",
    ),
    Endpoint("/api/dialogue/{run_id}/map", dialogue.show_map, media="application/json", need="see"),
    Endpoint("/api/personas", people.import_texts, "POST", body=_TEXTS, media="application/json", need="admin"),
    Endpoint("/api/personas/{persona_id}", people.show_person, media="application/json", need="known"),
    Endpoint(
        "/api/personas/{persona_id}/build",
        people.build_person,
        "POST",
        body=_BUILD,
        media="application/json",
        need="admin",
    ),
    Endpoint("/personas", people.list_people, also_json=True, need="known"),
    Endpoint("/personas", people.import_texts, "POST", body=_TEXTS, also_json=True, need="admin"),
    Endpoint("/personas/{persona_id}", people.show_person, also_json=True, need="known"),
    Endpoint("/votes/{run_id}", voting.show_votes, also_json=True, need="see"),
    Endpoint("/votes/{run_id}", voting.vote, "POST", body=_VOTE, also_json=True, need="see"),
    Endpoint(
        "/personas/{persona_id}/build", people.build_person, "POST", body=_BUILD, also_json=True, need="admin"
    ),
)
