"""Limits of requests, and errors for refused ones."""

from __future__ import annotations

from dataclasses import dataclass

MALFORMED, MISSING, TOO_LARGE, UNUSABLE, FAILED, BUSY = 400, 404, 413, 422, 500, 503  # status codes of HTTP


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The maximum size of a request, and the maximum number of waiting requests."""

    max_bytes: int = 1_000_000
    max_tokens: int = 10_000
    max_seconds: float = 10.0  # waiting included
    max_waiting: int = 32  # requests, including the current one


class RequestError(Exception):
    """A refused request, with a status and a one-line message."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
