"""What a client reports about each attempt, for logs and metrics."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ._attempts import Answer, Done, Lost, Refused, Send, error_of
from ._errors import PayhookError


@dataclass(frozen=True)
class RequestInfo:
    """An attempt that is about to be sent. `path` is without the query, which may name people. `attempt` is 1, and more for retries."""

    method: str
    path: str
    attempt: int
    idempotency_key: str | None


@dataclass(frozen=True)
class ResponseInfo(RequestInfo):
    """The end of an attempt. `status` is None if no response arrived.

    `replayed`: the server returned the stored response of an earlier request with this key. `duration` is in seconds, of a download to
    its first byte. `error` is why the attempt failed.
    """

    status: int | None
    request_id: str | None
    replayed: bool
    duration: float
    error: PayhookError | None


OnRequest = Callable[[RequestInfo], None]
OnResponse = Callable[[ResponseInfo], None]


class Observed:
    """An attempt: reported when it is created, and again when it has ended. The functions must not raise."""

    def __init__(
        self, method: str, path: str, step: Send, on_request: OnRequest | None, on_response: OnResponse | None
    ) -> None:
        self._about = (method, path, step.attempt, step.headers.get("Idempotency-Key"))
        self._on_response = on_response
        if on_request is not None:
            on_request(RequestInfo(*self._about))
        self._started = time.monotonic()

    def end(self, answer: Answer) -> None:
        if self._on_response is None:
            return
        duration = time.monotonic() - self._started
        status: int | None = None
        headers: Mapping[str, str] = {}
        if isinstance(answer, Done | Refused):
            status, headers = answer.status, answer.headers
        error = error_of(answer) if isinstance(answer, Refused | Lost) else None
        replayed = headers.get("idempotent-replayed") == "true"
        self._on_response(
            ResponseInfo(*self._about, status, headers.get("payhook-request-id"), replayed, duration, error)
        )
