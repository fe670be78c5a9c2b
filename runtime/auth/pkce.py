"""Proof Key for Code Exchange (RFC 7636): who exchanges an authorization code proves that they asked for it."""

from __future__ import annotations

import base64
import hashlib
import secrets

METHOD = "S256"  # the only one that google-adk has, too: `plain` proves nothing


def new_verifier() -> str:
    """Return a new secret, of 64 characters."""
    return secrets.token_urlsafe(48)


def challenge_of(verifier: str) -> str:
    """Return what the request for consent tells of a secret."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
