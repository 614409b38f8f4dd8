"""The clients."""

from __future__ import annotations

import httpx

from ._async_resources import AsyncResources
from ._calls import AsyncCalls, Calls, Settings, checked_url
from ._hooks import OnRequest, OnResponse
from ._resources import Resources
from .oauth import AsyncOAuth, OAuth

TIMEOUT_SECONDS = 600.0
RETRIES = 3


def _check_credentials(api_key: str | None, oauth: object | None) -> None:
    if (api_key is None) == (oauth is None):
        raise TypeError("pass either api_key or oauth")


class Payhook(Resources):
    """A client of the whole API. Calls raise ApiError, ApiConnectionError or UnknownOutcomeError.

    Writes carry an idempotency key, and requests are sent again, up to `retries` times, where that is safe. `timeout` is how long an
    attempt may go without data from the server, in seconds; by default 10 minutes, because a large payout or import takes minutes.
    `on_request` and `on_response` get each attempt, for logs and metrics. They must not raise.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        oauth: OAuth | None = None,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        user_agent: str = "payhook-python",
        on_request: OnRequest | None = None,
        on_response: OnResponse | None = None,
    ) -> None:
        _check_credentials(api_key, oauth)
        settings = Settings(checked_url(url), user_agent, timeout, retries, on_request, on_response)
        self._client = httpx.Client(follow_redirects=False)

        def token(refused: str | None) -> str:
            return oauth.access_token(refused) if oauth else str(api_key)

        super().__init__(Calls(self._client, settings, token, oauth is not None))

    def __enter__(self) -> Payhook:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


class AsyncPayhook(AsyncResources):
    """The same for asyncio: calls are awaited, lists and downloads are read with `async for`."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        oauth: AsyncOAuth | None = None,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_SECONDS,
        user_agent: str = "payhook-python",
        on_request: OnRequest | None = None,
        on_response: OnResponse | None = None,
    ) -> None:
        _check_credentials(api_key, oauth)
        settings = Settings(checked_url(url), user_agent, timeout, retries, on_request, on_response)
        self._client = httpx.AsyncClient(follow_redirects=False)

        async def token(refused: str | None) -> str:
            return await oauth.access_token(refused) if oauth else str(api_key)

        super().__init__(AsyncCalls(self._client, settings, token, oauth is not None))

    async def __aenter__(self) -> AsyncPayhook:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()
