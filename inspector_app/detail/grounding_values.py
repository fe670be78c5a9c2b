"""The sources that an answer names: web pages and documents it is grounded on, and citations. Addresses are text, never opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.genai import types

    from runtime.events.event import Event


def grounding_values(event: Event) -> Iterator[tuple[str, Any, str]]:
    """Yield title, value and path in a filter expression of what an answer is grounded on."""
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
