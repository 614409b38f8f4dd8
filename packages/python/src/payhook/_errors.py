"""The errors of a call."""

from __future__ import annotations


class PayhookError(Exception):
    """The base of all errors of this package, except those for wrong arguments."""


class ApiError(PayhookError):
    """The API refused the request, and nothing was changed. Branch on `reason`, show the message to people.

    `reason` is the Payhook-Reason header, a stable name of the cause (docs/errors.md), or None if something between client
    and server responded instead. `request_id` identifies the request in the server's log. `retry_after` is in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        reason: str | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.reason = reason
        self.request_id = request_id
        self.retry_after = retry_after


class ApiConnectionError(PayhookError):
    """The API sent no complete response, and nothing was changed: nothing reached the server, or the call was a read.

    `status` and `request_id` are those of an incomplete or foreign response.
    """

    def __init__(self, message: str, *, status: int | None = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class UnknownOutcomeError(ApiConnectionError):
    """The API sent no complete response to a write, which may have been done.

    Repeat the call with the same `idempotency_key`, or read the record. The key is None for a DELETE.
    """

    def __init__(
        self,
        message: str,
        *,
        idempotency_key: str | None,
        status: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, status=status, request_id=request_id)
        self.idempotency_key = idempotency_key


class OAuthError(PayhookError):
    """The authorization server refused. `error` is the code of RFC 6749 section 5.2, such as `invalid_grant`."""

    def __init__(self, error: str, message: str, *, status: int) -> None:
        super().__init__(message)
        self.error = error
        self.status = status


class InvalidIdError(ValueError):
    """An invalid id, such as an empty string: it would address another operation, so nothing is sent."""


class WebhookVerificationError(PayhookError):
    """A webhook that must not be trusted. Respond with 400.

    `problem` is `missing_headers`, `timestamp_out_of_range`, `wrong_signature`, `invalid_secret` or `invalid_payload`.
    """

    def __init__(self, problem: str, message: str) -> None:
        super().__init__(message)
        self.problem = problem
