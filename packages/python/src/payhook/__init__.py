"""The typed client of Payhook, a self-hosted service for affiliate payouts and webhook delivery."""

from . import types
from ._client import AsyncPayhook, Payhook
from ._errors import (
    ApiConnectionError,
    ApiError,
    InvalidIdError,
    OAuthError,
    PayhookError,
    UnknownOutcomeError,
    WebhookVerificationError,
)
from ._files import AsyncDownload, Download, FileHeaders, Upload
from ._hooks import RequestInfo, ResponseInfo
from ._listing import AsyncListing, Listing, Page
from .consuming import consume_events, consume_events_async
from .oauth import AsyncOAuth, Authorization, OAuth, Tokens
from .webhooks import sign_webhook, verify_webhook, verify_webhooks

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "AsyncDownload",
    "AsyncListing",
    "AsyncOAuth",
    "AsyncPayhook",
    "Authorization",
    "Download",
    "FileHeaders",
    "InvalidIdError",
    "Listing",
    "OAuth",
    "OAuthError",
    "Page",
    "Payhook",
    "PayhookError",
    "RequestInfo",
    "ResponseInfo",
    "Tokens",
    "UnknownOutcomeError",
    "Upload",
    "WebhookVerificationError",
    "consume_events",
    "consume_events_async",
    "sign_webhook",
    "types",
    "verify_webhook",
    "verify_webhooks",
]
