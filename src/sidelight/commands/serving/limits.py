"""What a server refuses, and how it says so."""

from __future__ import annotations

from dataclasses import dataclass

MALFORMED, MISSING, TOO_LARGE, UNUSABLE, FAILED, BUSY = 400, 404, 413, 422, 500, 503  # status codes of HTTP


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much one request may ask for, and how many may wait."""

    max_bytes: int = 1_000_000
    max_tokens: int = 10_000
    max_seconds: float = 10.0  # waiting included
    max_waiting: int = 32  # requests, the one in work included


class RequestError(Exception):
    """A request that gets no answer but a status and one line."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
