"""Verifies and signs webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from ._errors import WebhookVerificationError
from .types import WebhookBody

__all__ = ["WebhookVerificationError", "sign_webhook", "verify_webhook", "verify_webhooks"]

TOLERANCE_SECONDS = 300
SECRET = re.compile(r"whsec_([A-Za-z0-9+/]{4,}={0,2})")


class Headers(Protocol):
    """The headers of a request: a dict, or those of a framework. Their names are in any case."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(body: bytes | str, headers: Headers, secrets: str | Sequence[str]) -> WebhookBody:
    """Verifies a webhook and returns its event.

    `body` must be the raw body as received: parsing and serializing it again changes the bytes. `secrets` is the endpoint's secret
    (`whsec_…`), or several, of which one must match, so that a secret can be rotated without downtime. A timestamp more than 5
    minutes off is refused, to prevent replays. The same event may still be delivered twice: remember its `id`. The type of the result
    is that of an endpoint with `payload: full`; other payloads are what their format defines.

    Raises WebhookVerificationError if the webhook is not genuine. Do not use any part of it then.
    """
    return cast(WebhookBody, _verified(body, headers, secrets))


def verify_webhooks(
    body: bytes | str, headers: Headers, secrets: str | Sequence[str]
) -> list[WebhookBody]:
    """The same for an endpoint with `batch`: returns its events in order. Without `batch`, the single event."""
    verified = _verified(body, headers, secrets)
    return cast("list[WebhookBody]", verified if isinstance(verified, list) else [verified])


def sign_webhook(
    body: bytes | str, *, secrets: str | Sequence[str], id: str, timestamp: int | None = None
) -> dict[str, str]:
    """The headers with which Payhook would send this body, to test a receiver. `timestamp`: seconds since 1970; default now."""
    at = str(int(time.time()) if timestamp is None else timestamp)
    signatures = [_signature(_key(secret), id, at, _bytes(body)) for secret in _several(secrets)]
    return {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": " ".join(signatures)}


def _verified(body: bytes | str, headers: Headers, secrets: str | Sequence[str]) -> Any:
    keys = [_key(secret) for secret in _several(secrets)]
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (given.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp or not signatures:
        raise WebhookVerificationError(
            "missing_headers", "webhook-id, webhook-timestamp and webhook-signature must all be present"
        )
    _check_timestamp(timestamp)
    found = [signature.encode() for signature in signatures.split(" ")]
    expected = [_signature(key, id, timestamp, _bytes(body)).encode() for key in keys]
    # every pair is compared, in constant time
    matches = [hmac.compare_digest(one, other) for one in expected for other in found]
    if not any(matches):
        raise WebhookVerificationError("wrong_signature", "no signature matches")
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict | list):
        raise WebhookVerificationError(
            "invalid_payload", "the signature matches, but the body is not a JSON object"
        )
    return event


def _several(secrets: str | Sequence[str]) -> Sequence[str]:
    return [secrets] if isinstance(secrets, str) else secrets


def _bytes(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _key(secret: str) -> bytes:
    match = SECRET.fullmatch(secret)
    if match is None:
        raise WebhookVerificationError("invalid_secret", "a secret must be whsec_ followed by a base64 key")
    text = match[1].rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _signature(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _check_timestamp(timestamp: str) -> None:
    if re.fullmatch(r"[0-9]{1,12}", timestamp) is None:
        raise WebhookVerificationError(
            "timestamp_out_of_range", "webhook-timestamp is not a time in seconds since 1970"
        )
    age = time.time() - int(timestamp)
    if abs(age) > TOLERANCE_SECONDS:
        direction = "old" if age > 0 else "ahead"
        raise WebhookVerificationError(
            "timestamp_out_of_range",
            f"webhook-timestamp is {round(abs(age) / 60)} minutes {direction}: at most 5 minutes are allowed",
        )
