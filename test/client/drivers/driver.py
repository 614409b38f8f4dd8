"""Makes the calls of test/client/behaviours.ts with the client in Python: a JSON object per line in, the result per line out.

`python driver.py sync` uses Payhook, `python driver.py async` AsyncPayhook.
"""

import asyncio
import io
import json
import sys
import time
from typing import Any

import payhook


class OnceReadable(io.RawIOBase):
    """A file that cannot seek."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._content.read(size)

    def seekable(self) -> bool:
        return False


def options_of(call: dict[str, Any]) -> dict[str, Any]:
    """The options of a call that the table names."""
    options: dict[str, Any] = {}
    if "key" in call:
        options["idempotency_key"] = call["key"]
    if "ifMatch" in call:
        options["if_match"] = call["ifMatch"]
    return options


def settings_of(call: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if "retries" in call:
        settings["retries"] = call["retries"]
    if "timeoutMs" in call:
        settings["timeout"] = call["timeoutMs"] / 1000
    return settings


def tokens_of(call: dict[str, Any]) -> payhook.Tokens:
    return payhook.Tokens("old", "refresh-1", time.time() + call["expiresIn"], "affiliates")


async def value_of(value: Any) -> Any:
    """The result of a call, of either client."""
    return await value if asyncio.iscoroutine(value) else value


async def run(call: dict[str, Any], is_async: bool, seen: list[Any]) -> Any:
    """Makes a call. `seen` gets the records of a loop as they come."""
    verb = call["verb"]
    if verb == "verify":
        return payhook.verify_webhooks(call["body"], call["headers"], call["secrets"])
    if verb == "sign":
        return payhook.sign_webhook(call["body"], secrets=call["secrets"], id=call["id"], timestamp=call["timestamp"])
    oauth: Any = None
    saved: list[str | None] = []
    if verb.startswith("oauth"):
        kept: list[payhook.Tokens | None] = [tokens_of(call)] if "expiresIn" in call else [None]

        def save(tokens: payhook.Tokens | None) -> None:
            kept[0] = tokens
            saved.append(tokens and tokens.access_token)

        async def save_later(tokens: payhook.Tokens | None) -> None:
            save(tokens)

        async def load_later() -> payhook.Tokens | None:
            return kept[0]

        application = call.get("application", {"id": "app_1", "secret": "phs_1"})
        about = {
            "client_id": application["id"],
            "client_secret": application["secret"],
            "redirect_uri": "https://shop.example.com/callback",
        }
        if is_async:
            oauth = payhook.AsyncOAuth(call["url"], load=load_later, save=save_later, **about)
        else:
            oauth = payhook.OAuth(call["url"], load=lambda: kept[0], save=save, **about)
    if verb == "oauth_authorization":
        request = oauth.authorization(["affiliates", "webhooks"])
        return {"url": request.url, "state": request.state, "verifier": request.code_verifier}
    if verb == "oauth_exchange":
        tokens = await value_of(oauth.exchange(call.get("code", "phc_1"), call.get("verifier", "the verifier")))
        return {"access": tokens.access_token, "refresh": tokens.refresh_token, "saved": saved}
    if verb == "oauth_revoke":
        await value_of(oauth.revoke())
        return {"saved": saved}
    client_type: Any = payhook.AsyncPayhook if is_async else payhook.Payhook
    credentials = {"oauth": oauth} if oauth else {"api_key": "secret"}
    hooks = Hooks()
    client = client_type(call["url"], **credentials, **settings_of(call), **hooks.settings)
    try:
        if verb in ("all", "oauth_all"):
            listing = client.affiliates.list()
            if is_async:
                async for affiliate in listing:
                    seen.append(affiliate["id"])
            else:
                for affiliate in listing:
                    seen.append(affiliate["id"])
            return {"seen": seen, "saved": saved} if oauth else seen
        if verb == "observe":
            await call_of(client, {"verb": "create"}, options_of(call))
            return {"requests": hooks.requests, "responses": hooks.responses}
        return await call_of(client, call, options_of(call))
    finally:
        await value_of(client.aclose() if is_async else client.close())


class Hooks:
    """What a client reported of its attempts."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.responses: list[Any] = []
        self.settings: dict[str, Any] = {
            "on_request": lambda info: self.requests.append(self._about(info)),
            "on_response": lambda info: self.responses.append(
                {
                    **self._about(info),
                    "status": info.status,
                    "requestId": info.request_id,
                    "replayed": info.replayed,
                    "isFailure": info.error is not None,
                }
            ),
        }

    def _about(self, info: payhook.RequestInfo) -> dict[str, Any]:
        return {"method": info.method, "path": info.path, "attempt": info.attempt, "key": info.idempotency_key}


async def call_of(client: Any, call: dict[str, Any], options: dict[str, Any]) -> Any:
    verb = call["verb"]
    if verb == "publish":
        event = {"type": "order.created", "data": {"text": "x" * call.get("bytes", 1)}}
        batch = await value_of(client.events.publish_many({"events": [event] * call["count"]}, **options))
        return [item["index"] for item in batch["items"]]
    if verb == "read":
        return await value_of(client.account.get(**options))
    if verb == "create":
        return await value_of(client.payouts.create({"filters": {"currency": "usd"}}, **options))
    if verb == "create_affiliate":
        return await value_of(client.affiliates.create({"email": "ada@example.com"}, **options))
    if verb == "complete":
        body = {"commissions": [], "require_all": True}
        return await value_of(client.payouts.complete("po_1", body, **options))
    if verb == "delete":
        return await value_of(client.payouts.delete("po_1", **options))
    if verb == "page":
        page = await value_of(client.affiliates.list(status="active", per_page=2).page())
        return [affiliate["id"] for affiliate in page.data]
    if verb == "invalid_id":
        return await value_of(client.payouts.get(".."))
    if verb == "upload":
        return await value_of(client.affiliates.import_("email\nzoë@example.com\n", **options))
    if verb == "upload_once":
        return await value_of(client.affiliates.import_(OnceReadable(b"email\n"), **options))
    if verb == "download":
        file = await value_of(client.payouts.download("po_1"))
        content = (await value_of(file.read())).decode()
        return {"name": file.about.name, "revision": file.about.revision, "content": content}
    raise ValueError(verb)


def failure_of(error: Exception) -> dict[str, Any]:
    result: dict[str, Any] = {"message": str(error)}
    if isinstance(error, payhook.ApiError):
        given = {"status": error.status, "code": error.code, "reason": error.reason, "requestId": error.request_id}
        return {**result, **given, "outcome": "refused", "retryAfter": error.retry_after or 0}
    if isinstance(error, payhook.UnknownOutcomeError):
        return {**result, "outcome": "unknown", "key": error.idempotency_key, "status": error.status}
    if isinstance(error, payhook.ApiConnectionError):
        return {**result, "outcome": "not_done", "status": error.status}
    if isinstance(error, payhook.InvalidIdError):
        return {**result, "outcome": "invalid_id"}
    if isinstance(error, payhook.OAuthError):
        return {**result, "outcome": "oauth", "code": error.error}
    if isinstance(error, payhook.WebhookVerificationError):
        return {**result, "outcome": "not_genuine", "code": error.problem}
    return {**result, "outcome": type(error).__name__}


for line in sys.stdin:
    seen: list[Any] = []
    try:
        value = asyncio.run(run(json.loads(line), sys.argv[1] == "async", seen))
        answer = {"outcome": "ok", "value": value}
    except Exception as error:
        answer = {**failure_of(error), "seen": seen}
    print(json.dumps(answer), flush=True)
