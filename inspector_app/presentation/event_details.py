"""What an event holds beside its parts, state and error: the one description for the window and for exported pages. No Qt.

The sources that an answer names are text; their addresses are never opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from runtime.events.kinds import node_path, text_of
from runtime.events.marks import NOT_CAPTURED, NOTE

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


def texts(event: Event) -> dict[str, str]:
    """Return the texts beside the content, title → text: a compaction's summary, a live conversation's transcripts, and what is missing."""
    compaction = event.actions.compaction
    found = {"Summary": "".join(part.text or "" for part in compaction.compacted_content.parts or ())} if compaction else {}
    spoken = [heard.text for heard in (event.input_transcription, event.output_transcription) if heard and heard.text]
    found["Transcript"] = "\n\n".join(dict.fromkeys(text for text in spoken if text != text_of(event)))
    if (event.custom_metadata or {}).get(NOT_CAPTURED):
        found["Content was not captured"] = (
            "The trace does not have the texts, arguments and results of this call. Turn their recording on in the agent's framework."
        )
    return {title: text for title, text in found.items() if text}


def details(event: Event) -> Iterator[tuple[str, Any, str]]:
    """Yield title, value and path in a filter expression of what an event is grounded on, and of what it does."""
    yield from _grounding(event)
    actions = event.actions
    metadata = {name: value for name, value in (event.custom_metadata or {}).items() if name not in (NOTE, NOT_CAPTURED)}
    for title, value, root in (
        ("node", " › ".join(node_path(event)) or None, ""),
        ("output", event.output, "json.output"),
        ("route", actions.route, "json.actions.route"),
        ("checkpoint", actions.agent_state, "checkpoint"),
        ("end of agent", actions.end_of_agent, "end_of_agent"),
        ("transfer to", actions.transfer_to_agent, "transfer"),
        ("escalate", actions.escalate, "escalate"),
        ("saved artifacts", actions.artifact_delta or None, "artifact"),
        ("rewind before", actions.rewind_before_invocation_id, "json.actions.rewind_before_invocation_id"),
        ("custom metadata", metadata or None, "metadata"),
    ):
        if value is not None:
            yield title, value, root


def _grounding(event: Event) -> Iterator[tuple[str, Any, str]]:
    grounding = event.grounding_metadata
    if grounding is not None:
        sources = [_source(chunk) for chunk in grounding.grounding_chunks or ()]
        queries = [*(grounding.web_search_queries or ()), *(grounding.retrieval_queries or ()), *(grounding.image_search_queries or ())]
        supports = [_support(support, sources) for support in grounding.grounding_supports or ()]
        for title, value in (("searched for", queries), ("sources", _numbered(sources)), ("grounded text", supports)):
            if value:
                yield title, value, "json.grounding_metadata"
    citations = event.citation_metadata.citations if event.citation_metadata is not None else None
    if citations:
        yield "citations", [_citation(citation) for citation in citations], "json.citation_metadata"


def _numbered(sources: list[str]) -> dict[str, str]:
    return {f"[{number}]": source for number, source in enumerate(sources, 1)}


def _source(chunk: types.GroundingChunk) -> str:
    """Return a source's title and address."""
    found = chunk.web or chunk.retrieved_context or chunk.maps or chunk.image
    names = ("title", "document_name", "uri", "source_uri", "image_uri")
    known = dict.fromkeys(text for name in names if (text := getattr(found, name, None)))
    return " · ".join(known) or "unnamed"


def _support(support: types.GroundingSupport, sources: list[str]) -> dict[str, Any]:
    """Return a stretch of the answer with the sources that support it."""
    indices = [index for index in support.grounding_chunk_indices or () if 0 <= index < len(sources)]
    segment = support.segment
    return {
        "text": (segment.text if segment is not None else None) or "",
        "sources": ", ".join(f"[{index + 1}]" for index in indices) or "none",
        **({"confidence": support.confidence_scores} if support.confidence_scores else {}),
    }


def _citation(citation: types.Citation) -> dict[str, Any]:
    first, end = citation.start_index, citation.end_index
    place = f"{first or 0:,} to {end:,}" if end is not None else None
    found = {"title": citation.title, "address": citation.uri, "characters": place, "license": citation.license}
    return {name: value for name, value in found.items() if value}
