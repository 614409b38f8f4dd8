"""Verifies and signs webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from ._errors import WebhookVerificationError
from .types import WebhookBody

__all__ = ["WebhookVerificationError", "sign_webhook", "verify_webhook", "verify_webhooks"]

TOLERANCE_SECONDS = 300
# the bytes of a public key, and of a private key with it
SIZES = {"pk": 32, "sk": 64}
SECRET = re.compile(r"wh(sec|pk|sk)_([A-Za-z0-9+/]{4,}={0,2})")


class Headers(Protocol):
    """The headers of a request: a dict, or those of a framework. Their names are in any case."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(body: bytes | str, headers: Headers, secrets: str | Sequence[str]) -> WebhookBody:
    """Verifies a webhook and returns its event.

    `body` must be the raw body as received: parsing and serializing it again changes the bytes. `secrets` is the endpoint's secret
    (`whsec_…`) or public key (`whpk_…`, which needs `pip install payhook[ed25519]`), or several, of which one must match, so that it
    can be rotated without downtime. A timestamp more than 5 minutes off is refused, to prevent replays. The same event may still be delivered twice: remember its `id`. The type of the result
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
    """The headers with which Payhook would send this body, to test a receiver. `secrets`: secrets (`whsec_…`) or private keys
    (`whsk_…`). `timestamp`: seconds since 1970; default now."""
    at = str(int(time.time()) if timestamp is None else timestamp)
    message = _message(id, at, body)
    signatures = [_signature(*_key(secret, "sk"), message) for secret in _several(secrets)]
    return {"webhook-id": id, "webhook-timestamp": at, "webhook-signature": " ".join(signatures)}


def _verified(body: bytes | str, headers: Headers, secrets: str | Sequence[str]) -> Any:
    keys = [_key(secret, "pk") for secret in _several(secrets)]
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (given.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not id or not timestamp or not signatures:
        raise WebhookVerificationError(
            "missing_headers", "webhook-id, webhook-timestamp and webhook-signature must all be present"
        )
    _check_timestamp(timestamp)
    message = _message(id, timestamp, body)
    # every pair is compared
    matches = [_matches(*key, message, one) for key in keys for one in signatures.split(" ")]
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


def _message(id: str, timestamp: str, body: bytes | str) -> bytes:
    return f"{id}.{timestamp}.".encode() + (body.encode() if isinstance(body, str) else body)


def _key(secret: str, other: str) -> tuple[str, bytes]:
    """The kind of a secret (`sec`, or `other`) and its key."""
    match = SECRET.fullmatch(secret)
    if match is not None and match[1] in ("sec", other):
        text = match[2].rstrip("=")
        key = base64.b64decode(text + "=" * (-len(text) % 4))
        if match[1] == "sec" or len(key) == SIZES[match[1]]:
            return match[1], key
    raise WebhookVerificationError(
        "invalid_secret", f"a secret must be whsec_ followed by a base64 key, or a key wh{other}_…"
    )


def _signature(kind: str, key: bytes, message: bytes) -> str:
    if kind == "sk":
        signed = _ed25519().Ed25519PrivateKey.from_private_bytes(key[:32]).sign(message)
        return f"v1a,{base64.b64encode(signed).decode()}"
    digest = hmac.new(key, message, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _matches(kind: str, key: bytes, message: bytes, given: str) -> bool:
    if kind == "sec":
        # in constant time
        return hmac.compare_digest(_signature(kind, key, message).encode(), given.encode())
    version, _, text = given.partition(",")
    public_key = _ed25519().Ed25519PublicKey.from_public_bytes(key)
    try:
        public_key.verify(base64.b64decode(text), message)
    except (ValueError, import_module("cryptography.exceptions").InvalidSignature):
        return False
    return version == "v1a"


def _ed25519() -> Any:
    try:
        return import_module("cryptography.hazmat.primitives.asymmetric.ed25519")
    except ImportError as error:
        raise ImportError("key pairs need the package cryptography: pip install payhook[ed25519]") from error


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
