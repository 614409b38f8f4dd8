"""OAuth 2.0 for applications: sends the merchant to Payhook, and keeps the access token current (docs/oauth.md)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from ._calls import NOT_SENT, checked_url
from ._errors import ApiConnectionError, OAuthError, UnknownOutcomeError

__all__ = ["AsyncOAuth", "Authorization", "OAuth", "OAuthError", "Tokens"]

# a token that expires within this time is refreshed before it is used
MARGIN_SECONDS = 30
TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Tokens:
    """The tokens of a grant. `expires_at`: of the access token, in seconds since 1970. Keep them secret."""

    access_token: str
    refresh_token: str
    expires_at: float
    scope: str


@dataclass(frozen=True)
class Authorization:
    """Where to send the merchant's browser, and what to store with its session until it comes back."""

    url: str
    state: str
    code_verifier: str


class _Application:
    def __init__(self, url: str, client_id: str, client_secret: str | None, redirect_uri: str) -> None:
        self._url = checked_url(url)
        self._client_id = client_id
        self._secret = client_secret
        self._redirect_uri = redirect_uri

    def authorization(self, scopes: Sequence[str]) -> Authorization:
        """A new authorization request with PKCE (RFC 7636) and a random state."""
        state = secrets.token_urlsafe(24)
        verifier = secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return Authorization(f"{self._url}/oauth/authorize?{urlencode(query)}", state, verifier)

    def _form(self, form: dict[str, str]) -> dict[str, Any]:
        if self._secret is None:
            return {"data": {**form, "client_id": self._client_id}}
        return {"data": form, "auth": (self._client_id, self._secret)}

    def _exchange_form(self, code: str, code_verifier: str) -> dict[str, str]:
        return {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": code_verifier,
        }


def _refresh_form(tokens: Tokens) -> dict[str, str]:
    return {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token}


def _lost(error: httpx.HTTPError) -> ApiConnectionError:
    message = f"no answer from the authorization server: {error or type(error).__name__}"
    if isinstance(error, NOT_SENT):
        return ApiConnectionError(message)
    return UnknownOutcomeError(message, idempotency_key=None)


def _checked(response: httpx.Response) -> Any:
    """The JSON of a response. Raises OAuthError for a refusal."""
    try:
        body = response.json() if response.content else {}
    except ValueError:
        body = None
    if response.is_success and isinstance(body, dict):
        return body
    if isinstance(body, dict) and "error" in body and response.status_code < 500:
        error = str(body["error"])
        raise OAuthError(error, str(body.get("error_description", error)), status=response.status_code)
    raise UnknownOutcomeError(
        f"the server answered HTTP {response.status_code} without an OAuth response: is the address right?",
        idempotency_key=None,
        status=response.status_code,
    )


def _tokens(body: Any) -> Tokens:
    return Tokens(
        access_token=body["access_token"],
        refresh_token=body["refresh_token"],
        expires_at=time.time() + body["expires_in"],
        scope=body["scope"],
    )


def _is_usable(tokens: Tokens, refused: str | None) -> bool:
    return tokens.access_token != refused and tokens.expires_at - MARGIN_SECONDS > time.time()


class OAuth(_Application):
    """An application and its tokens for one merchant.

    `load` and `save` keep the tokens, for example in a row of a database; without them they are kept in memory. `save` is called with
    each new pair before it is used. Pass the object to `Payhook(oauth=…)`: calls refresh the access token when it expires.
    """

    def __init__(
        self,
        url: str,
        *,
        client_id: str,
        redirect_uri: str,
        client_secret: str | None = None,
        load: Callable[[], Tokens | None] | None = None,
        save: Callable[[Tokens | None], None] | None = None,
    ) -> None:
        super().__init__(url, client_id, client_secret, redirect_uri)
        self._kept: Tokens | None = None
        self._load = load
        self._save = save
        self._lock = threading.Lock()
        self._client = httpx.Client(timeout=TIMEOUT_SECONDS, follow_redirects=False)

    def exchange(self, code: str, code_verifier: str) -> Tokens:
        """Exchanges the code of the callback for tokens, and saves them. Check `state` before."""
        tokens = _tokens(self._post("/oauth/token", self._exchange_form(code, code_verifier)))
        self._keep(tokens)
        return tokens

    def refresh(self) -> Tokens:
        """Gets a new access token, and saves the tokens. Raises OAuthError `invalid_grant` if the grant has ended."""
        with self._lock:
            return self._refreshed(self._current())

    def revoke(self) -> None:
        """Ends the grant and all its tokens."""
        self._post("/oauth/revoke", {"token": self._current().refresh_token})
        self._keep(None)

    def access_token(self, refused: str | None = None) -> str:
        """A valid access token; refreshes it if it has expired or is the one that was refused."""
        tokens = self._current()
        if not _is_usable(tokens, refused):
            with self._lock:
                # another thread may have refreshed it
                tokens = self._current()
                if not _is_usable(tokens, refused):
                    tokens = self._refreshed(tokens)
        return tokens.access_token

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def _current(self) -> Tokens:
        tokens = self._load() if self._load else self._kept
        if tokens is None:
            raise OAuthError("no_tokens", "there are no tokens yet: send the merchant to Payhook", status=0)
        return tokens

    def _keep(self, tokens: Tokens | None) -> None:
        self._kept = tokens
        if self._save:
            self._save(tokens)

    def _refreshed(self, tokens: Tokens) -> Tokens:
        renewed = _tokens(self._post("/oauth/token", _refresh_form(tokens)))
        self._keep(renewed)
        return renewed

    def _post(self, path: str, form: dict[str, str]) -> Any:
        try:
            return _checked(self._client.post(self._url + path, **self._form(form)))
        except httpx.HTTPError as error:
            raise _lost(error) from error


class AsyncOAuth(_Application):
    """An application and its tokens for one merchant, for `AsyncPayhook(oauth=…)`. See OAuth; `load` and `save` are awaited."""

    def __init__(
        self,
        url: str,
        *,
        client_id: str,
        redirect_uri: str,
        client_secret: str | None = None,
        load: Callable[[], Awaitable[Tokens | None]] | None = None,
        save: Callable[[Tokens | None], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(url, client_id, client_secret, redirect_uri)
        self._kept: Tokens | None = None
        self._load = load
        self._save = save
        self._lock = asyncio.Lock()
        self._client = httpx.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False)

    async def exchange(self, code: str, code_verifier: str) -> Tokens:
        """Exchanges the code of the callback for tokens, and saves them. Check `state` before."""
        tokens = _tokens(await self._post("/oauth/token", self._exchange_form(code, code_verifier)))
        await self._keep(tokens)
        return tokens

    async def refresh(self) -> Tokens:
        """Gets a new access token, and saves the tokens. Raises OAuthError `invalid_grant` if the grant has ended."""
        async with self._lock:
            return await self._refreshed(await self._current())

    async def revoke(self) -> None:
        """Ends the grant and all its tokens."""
        await self._post("/oauth/revoke", {"token": (await self._current()).refresh_token})
        await self._keep(None)

    async def access_token(self, refused: str | None = None) -> str:
        """A valid access token; refreshes it if it has expired or is the one that was refused."""
        tokens = await self._current()
        if not _is_usable(tokens, refused):
            async with self._lock:
                # another task may have refreshed it
                tokens = await self._current()
                if not _is_usable(tokens, refused):
                    tokens = await self._refreshed(tokens)
        return tokens.access_token

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _current(self) -> Tokens:
        tokens = await self._load() if self._load else self._kept
        if tokens is None:
            raise OAuthError("no_tokens", "there are no tokens yet: send the merchant to Payhook", status=0)
        return tokens

    async def _keep(self, tokens: Tokens | None) -> None:
        self._kept = tokens
        if self._save:
            await self._save(tokens)

    async def _refreshed(self, tokens: Tokens) -> Tokens:
        renewed = _tokens(await self._post("/oauth/token", _refresh_form(tokens)))
        await self._keep(renewed)
        return renewed

    async def _post(self, path: str, form: dict[str, str]) -> Any:
        try:
            return _checked(await self._client.post(self._url + path, **self._form(form)))
        except httpx.HTTPError as error:
            raise _lost(error) from error
