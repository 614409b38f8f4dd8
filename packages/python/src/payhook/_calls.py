"""Carries out calls over httpx."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict, TypeVar
from urllib.parse import urlsplit

import httpx

from ._attempts import (
    Answer,
    Done,
    Lost,
    Pause,
    Refused,
    Request,
    Send,
    Step,
    Token,
    attempts,
    body_bytes,
    path_of,
    query_of,
)
from ._errors import ApiConnectionError, PayhookError
from ._hooks import Observed, OnRequest, OnResponse
from ._files import AsyncDownload, Download, Source
from ._listing import AsyncListing, Listing, Page, Query

Result = TypeVar("Result")
CONNECT_SECONDS = 10
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


class CallOptions(TypedDict, total=False):
    """Options of a call, which override those of the client. `timeout`: seconds without data from the server."""

    timeout: float
    retries: int


class KeyedOptions(CallOptions, total=False):
    """Options of POST, PUT and PATCH.

    The same call with the same key (up to 255 characters) within 24 hours returns the stored response. By default each call gets
    a random key, which covers its retries; set your own to be able to repeat the call after a crash.
    """

    idempotency_key: str


class ConditionalOptions(CallOptions, total=False):
    """Options of calls that can depend on the `revision` you have seen."""

    if_match: int


class KeyedConditionalOptions(KeyedOptions, ConditionalOptions, total=False):
    """Both."""


@dataclass(frozen=True)
class Settings:
    """The server of a client and how to use it."""

    url: str
    user_agent: str
    timeout: float
    retries: int
    on_request: OnRequest | None = None
    on_response: OnResponse | None = None


def checked_url(url: str) -> str:
    """The address without a slash at its end. Raises ValueError if it is not one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError("url must be the http or https address of a server, without a user name")
    return url.rstrip("/")


def request_of(settings: Settings, method: str, place: tuple[Any, ...], given: dict[str, Any]) -> Request:
    pattern, *parts = place
    file = given.pop("file", None)
    options = {"timeout": settings.timeout, "retries": settings.retries, **given}
    return Request(
        method=method,
        path=path_of(pattern, tuple(parts)),
        file=None if file is None else Source(file),
        **options,
    )


def built(client: httpx.Client | httpx.AsyncClient, settings: Settings, request: Request, step: Send) -> httpx.Request:
    content: Any = body_bytes(request)
    if request.file is not None:
        is_async = isinstance(client, httpx.AsyncClient)
        content = request.file.async_chunks() if is_async else request.file.chunks()
    return client.build_request(
        request.method,
        settings.url + request.path,
        params=query_of(request) or None,
        headers=dict(step.headers),
        content=content,
        timeout=httpx.Timeout(request.timeout, connect=min(CONNECT_SECONDS, request.timeout)),
    )


def json_of(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError as error:
        raise ApiConnectionError("the answer is not JSON: is the address right?") from error


def nothing_of(response: httpx.Response) -> None:
    if response.content != b"":
        raise ApiConnectionError("the answer is not from the API: is the address right?")


def page_of(response: httpx.Response) -> Page[Any]:
    value = json_of(response)
    return Page(value["data"], value["pagination"])


class Calls:
    """The calls of one client."""

    def __init__(self, client: httpx.Client, settings: Settings, token: Callable[[str | None], str], renews: bool) -> None:
        self._client = client
        self._settings = settings
        self._token = token
        self._renews = renews

    def record(self, method: str, place: tuple[Any, ...], **given: Any) -> Any:
        return self._run(request_of(self._settings, method, place, given), json_of)

    def nothing(self, method: str, place: tuple[Any, ...], **given: Any) -> None:
        self._run(request_of(self._settings, method, place, given), nothing_of)

    def download(self, method: str, place: tuple[Any, ...], **given: Any) -> Download:
        return self._run(request_of(self._settings, method, place, given), Download, is_stream=True)

    def listing(self, method: str, place: tuple[Any, ...], *, order: str | None = None, **given: Any) -> Listing[Any]:
        request = request_of(self._settings, method, place, given)

        def load(query: Query) -> Page[Any]:
            return self._run(replace(request, query=query), page_of)

        return Listing(load, request.query, order)

    def _run(self, request: Request, read: Callable[[httpx.Response], Result], is_stream: bool = False) -> Result:
        steps = attempts(request, self._settings.user_agent, self._renews)
        answer: Answer = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                value: Result = end.value
                return value
            answer = self._carry_out(step, request, read, is_stream)

    def _carry_out(
        self, step: Step, request: Request, read: Callable[[httpx.Response], Any], is_stream: bool
    ) -> Answer:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        if isinstance(step, Token):
            try:
                return self._token(step.refused)
            except httpx.HTTPError as error:
                return Lost(error, is_unread=isinstance(error, NOT_SENT))
            except PayhookError as error:
                return error
        settings = self._settings
        observed = Observed(request.method, request.path, step, settings.on_request, settings.on_response)
        answer = self._send(step, request, read, is_stream)
        observed.end(answer)
        return answer

    def _send(
        self, step: Send, request: Request, read: Callable[[httpx.Response], Any], is_stream: bool
    ) -> Answer:
        try:
            response = self._client.send(built(self._client, self._settings, request, step), stream=True)
            try:
                if not response.is_success:
                    response.read()
                    return Refused(response.status_code, response.headers, response.text)
                if not is_stream:
                    response.read()
                return Done(read(response), response.status_code, response.headers)
            finally:
                if not (is_stream and response.is_success):
                    response.close()
        except httpx.HTTPError as error:
            return Lost(error, is_unread=isinstance(error, NOT_SENT))
        except PayhookError as error:
            return Lost(error, may_pass=False)


class AsyncCalls:
    """The calls of one asynchronous client."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        settings: Settings,
        token: Callable[[str | None], Awaitable[str]],
        renews: bool,
    ) -> None:
        self._client = client
        self._settings = settings
        self._token = token
        self._renews = renews

    async def record(self, method: str, place: tuple[Any, ...], **given: Any) -> Any:
        return await self._run(request_of(self._settings, method, place, given), json_of)

    async def nothing(self, method: str, place: tuple[Any, ...], **given: Any) -> None:
        await self._run(request_of(self._settings, method, place, given), nothing_of)

    async def download(self, method: str, place: tuple[Any, ...], **given: Any) -> AsyncDownload:
        return await self._run(request_of(self._settings, method, place, given), AsyncDownload, is_stream=True)

    def listing(
        self, method: str, place: tuple[Any, ...], *, order: str | None = None, **given: Any
    ) -> AsyncListing[Any]:
        request = request_of(self._settings, method, place, given)

        async def load(query: Query) -> Page[Any]:
            return await self._run(replace(request, query=query), page_of)

        return AsyncListing(load, request.query, order)

    async def _run(
        self, request: Request, read: Callable[[httpx.Response], Result], is_stream: bool = False
    ) -> Result:
        steps = attempts(request, self._settings.user_agent, self._renews)
        answer: Answer = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                value: Result = end.value
                return value
            answer = await self._carry_out(step, request, read, is_stream)

    async def _carry_out(
        self, step: Step, request: Request, read: Callable[[httpx.Response], Any], is_stream: bool
    ) -> Answer:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        if isinstance(step, Token):
            try:
                return await self._token(step.refused)
            except httpx.HTTPError as error:
                return Lost(error, is_unread=isinstance(error, NOT_SENT))
            except PayhookError as error:
                return error
        settings = self._settings
        observed = Observed(request.method, request.path, step, settings.on_request, settings.on_response)
        answer = await self._send(step, request, read, is_stream)
        observed.end(answer)
        return answer

    async def _send(
        self, step: Send, request: Request, read: Callable[[httpx.Response], Any], is_stream: bool
    ) -> Answer:
        try:
            response = await self._client.send(built(self._client, self._settings, request, step), stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    return Refused(response.status_code, response.headers, response.text)
                if not is_stream:
                    await response.aread()
                return Done(read(response), response.status_code, response.headers)
            finally:
                if not (is_stream and response.is_success):
                    await response.aclose()
        except httpx.HTTPError as error:
            return Lost(error, is_unread=isinstance(error, NOT_SENT))
        except PayhookError as error:
            return Lost(error, may_pass=False)
