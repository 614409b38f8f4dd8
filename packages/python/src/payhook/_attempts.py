"""When a request is sent again, and the error a call ends with. Nothing here does input or output: the attempts of a call are a
generator that yields steps, which the synchronous and the asynchronous client carry out."""

from __future__ import annotations

import json
import random
import re
import time
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from ._errors import ApiConnectionError, ApiError, InvalidIdError, PayhookError, UnknownOutcomeError
from ._files import Source

FIRST_PAUSE = 0.25
LONGEST_BACKOFF = 8.0
# for a longer Retry-After the call fails, and the caller decides
LONGEST_WAIT = 60
GATEWAY_FAILURES = {502, 503, 504}
KEYED = {"POST", "PUT", "PATCH"}
# reasons that leave the outcome open: the server failed or lost its database, perhaps during the commit
UNSURE = {"internal_error", "database_unavailable"}
# responses that the server can send before it looks up the stored response of an idempotency key
UNREAD = {401, 403, 429}


@dataclass(frozen=True)
class Request:
    """A request of the API. `timeout` is in seconds without data."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    file: Source | None = None
    media: str | None = None
    idempotency_key: str | None = None
    if_match: int | None = None
    timeout: float = 600
    retries: int = 3


@dataclass(frozen=True)
class Token:
    """A step: give an access token. `refused` is one that the server did not accept."""

    refused: str | None


@dataclass(frozen=True)
class Send:
    """A step: send the request with these headers. `attempt` counts from 1."""

    headers: Mapping[str, str]
    attempt: int


@dataclass(frozen=True)
class Pause:
    """A step: wait."""

    seconds: float


@dataclass(frozen=True)
class Done:
    """The result of a request that succeeded."""

    value: Any
    status: int
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Refused:
    """A response other than 2xx."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Lost:
    """No complete response. `is_unread`: no connection was made. `may_pass`: a retry may succeed."""

    error: Exception
    is_unread: bool = False
    may_pass: bool = True


Step = Token | Send | Pause
Answer = Done | Refused | Lost | str | PayhookError | None


def path_of(pattern: str, parts: tuple[object, ...]) -> str:
    """Fills in the path parameters. Raises InvalidIdError for ids that would lead to another path."""
    rest = iter(parts)

    def fill(match: re.Match[str]) -> str:
        part = next(rest, None)
        if isinstance(part, bool) or not isinstance(part, int | str) or part in ("", ".", ".."):
            raise InvalidIdError(f"{match[1]} must be an id, not {part!r}")
        return quote(str(part), safe="")

    return re.sub(r"\{(\w+)\}", fill, pattern)


def body_bytes(request: Request) -> bytes | None:
    """The JSON of the body, if any."""
    if request.body is None:
        return None
    return json.dumps(request.body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def query_of(request: Request) -> dict[str, str]:
    """The query as texts, without parameters that are not given."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in request.query.items()
        if value is not None
    }


def attempts(request: Request, user_agent: str, has_tokens: bool) -> Generator[Step, Answer, Any]:
    """The steps of a call, which ends with the result. Raises the error of the call.

    - If nothing reached the server, or it rejected the request unread (429 with Retry-After), every request is retried.
    - If it may have been done (connection lost, timeout, 5xx with Retry-After, a gateway's 502, 503 or 504), GET is retried,
      and so are POST, PUT and PATCH, whose idempotency key gives repeated requests a single effect.
    - DELETE has no such key: the caller decides.
    """
    is_write = request.method != "GET"
    key = request.idempotency_key or str(uuid.uuid4()) if request.method in KEYED else None
    is_repeatable = request.file is None or request.file.is_repeatable
    may_be_done = False
    refused: str | None = None
    attempt = 1
    sent = 0
    while True:
        token = yield Token(refused)
        if isinstance(token, PayhookError):
            raise final_error(token, is_write, may_be_done, key) from token
        sent += 1
        answer = yield Send(headers_of(request, str(token), key, user_agent), sent)
        if isinstance(answer, Done):
            return answer.value
        assert isinstance(answer, Refused | Lost)
        if has_tokens and is_repeatable and refused is None and is_expired(answer):
            refused = str(token)
            continue
        error = error_of(answer)
        is_unread = unread(answer)
        pause = None
        if attempt <= request.retries and is_repeatable:
            pause = pause_before(answer, error, attempt, is_unread, not is_write or key is not None)
        if is_write and not is_unread and (pause is not None or isinstance(answer, Lost)):
            may_be_done = True
        if pause is None:
            cause = answer.error if isinstance(answer, Lost) else None
            raise final_error(error, is_write, may_be_done, key) from cause
        yield Pause(pause)
        attempt += 1


def headers_of(request: Request, token: str, key: str | None, user_agent: str) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {token}", "User-Agent": user_agent}
    if key is not None:
        headers["Idempotency-Key"] = key
    if request.if_match is not None:
        headers["If-Match"] = f'"{request.if_match}"'
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if request.file is not None:
        headers["Content-Type"] = request.media or "application/octet-stream"
        if request.file.size is not None:
            headers["Content-Length"] = str(request.file.size)
    return headers


def is_expired(answer: Refused | Lost) -> bool:
    return isinstance(answer, Refused) and answer.status == 401


def unread(answer: Refused | Lost) -> bool:
    """Whether no server has processed the request."""
    if isinstance(answer, Lost):
        return answer.is_unread
    return answer.status == 429 and retry_after(answer.headers) is not None


def pause_before(
    answer: Refused | Lost, error: PayhookError, attempt: int, is_unread: bool, is_safe: bool
) -> float | None:
    """Seconds to wait before the next attempt; None if there must be none."""
    if isinstance(answer, Lost):
        may_pass = answer.may_pass
        asked = 0
    else:
        given = retry_after(answer.headers)
        may_pass = answer.status >= 500 and (given is not None or answer.status in GATEWAY_FAILURES)
        asked = given or 0
    if not is_unread and not (is_safe and may_pass):
        return None
    if asked > LONGEST_WAIT:
        return None
    backoff = min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_BACKOFF)
    # jitter, so that clients that failed together do not retry together
    return max(backoff * (0.5 + random.random() / 2), asked)


def retry_after(headers: Mapping[str, str]) -> int | None:
    """Seconds of a Retry-After header (RFC 9110 section 10.2.3), which is a number of seconds or a date."""
    text = headers.get("retry-after")
    if text is None:
        return None
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    try:
        seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError):
        return None
    return max(0, int(-(-seconds // 1)))


def error_of(answer: Refused | Lost) -> PayhookError:
    if isinstance(answer, Lost):
        if isinstance(answer.error, PayhookError):
            return answer.error
        return ApiConnectionError(f"no answer from the server: {answer.error or type(answer.error).__name__}")
    headers = answer.headers
    status = answer.status
    try:
        error = json.loads(answer.text)["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        # not an error of the API: something between client and server has responded
        code = "internal_error"
        message = f"the server answered HTTP {status} without an error of the API: is the address right?"
    return ApiError(
        message,
        status=status,
        code=code,
        reason=headers.get("payhook-reason"),
        request_id=headers.get("payhook-request-id"),
        retry_after=retry_after(headers),
    )


def final_error(error: PayhookError, is_write: bool, may_be_done: bool, key: str | None) -> PayhookError:
    """The error of the call: ApiError only if nothing was changed for certain."""
    if isinstance(error, ApiError):
        is_ours = error.reason is not None and not (is_write and error.reason in UNSURE)
        if error.status < 500:
            is_refusal = not (may_be_done and error.status in UNREAD)
        else:
            is_refusal = is_ours and not may_be_done
        if is_refusal:
            return error
    elif not isinstance(error, ApiConnectionError) and not may_be_done:
        return error
    status = getattr(error, "status", None)
    request_id = getattr(error, "request_id", None)
    if is_write and (isinstance(error, ApiError) or may_be_done):
        return UnknownOutcomeError(
            f"{error}; it is not known whether the request was carried out",
            idempotency_key=key,
            status=status,
            request_id=request_id,
        )
    return ApiConnectionError(str(error), status=status, request_id=request_id)
