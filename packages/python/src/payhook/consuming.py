"""The loop of a consumer of a pull endpoint."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import types
from ._client import AsyncPayhook, Payhook
from ._errors import ApiConnectionError, ApiError

# a thread cannot end a request in progress, so stopping takes up to this long
WAIT_SECONDS = 5
ASYNC_WAIT_SECONDS = 20
# how long the server may be silent: longer than it waits for an event
SILENCE_SECONDS = 60.0
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
MOST_ERROR_TEXT = 1000

OnTrouble = Callable[[Exception], object]
"""Called when a request failed that the loop survives: the server is away or fails, or a result was lost."""


def consume_events(
    payhook: Payhook,
    endpoint: str,
    handle: Callable[[Any, types.ClaimedEvent], object],
    *,
    stop: threading.Event | None = None,
    limit: int = 10,
    lease_seconds: int = 60,
    consumer: str | None = None,
    on_trouble: OnTrouble | None = None,
) -> None:
    """Claims the events of a pull endpoint and calls `handle` for each, in threads, until `stop` is set.

    `handle` gets the parsed body and the claim. An event for which it returns is acknowledged as delivered. If it raises, the attempt
    has failed with the message of the exception, and the event comes again by the schedule. Events are handled at least once: a
    handler must recognise an id that it has had.

    `payhook` has a key of the account or the token of the endpoint. Up to `limit` events (1 to 100) are handled at once. A lease
    is extended while its handler works. Events in progress are acknowledged before the loop ends. Raises ApiError if the API refuses,
    such as `resource_missing` or `endpoint_disabled`; while the server is away, stops or fails, it tries again.
    """
    stopped = stop or threading.Event()
    endpoints = payhook.webhook_endpoints

    def work(event: types.ClaimedEvent) -> None:
        done = threading.Event()

        def extend() -> None:
            while not done.wait(lease_seconds / 2):
                try:
                    endpoints.extend(endpoint, _extension(event, lease_seconds))
                except (ApiConnectionError, ApiError) as error:
                    _report(on_trouble, error)

        extending = threading.Thread(target=extend, daemon=True)
        extending.start()
        try:
            handle(json.loads(event["body"]), event)
            failure = None
        except Exception as error:
            failure = error
        finally:
            done.set()
        endpoints.acknowledge(endpoint, _acknowledgement(event, failure))

    pause = FIRST_PAUSE
    with ThreadPoolExecutor(max_workers=limit, thread_name_prefix="payhook-consumer") as threads:
        while not stopped.is_set():
            try:
                body = _claim(limit, lease_seconds, WAIT_SECONDS, consumer)
                # a claim whose answer is lost comes again by the schedule, so it is not repeated
                claim = endpoints.claim(endpoint, body, retries=0, timeout=SILENCE_SECONDS)
                working = [threads.submit(work, event) for event in claim["items"]]
                failures = [each.exception() for each in working]
                for failure in failures:
                    if failure is not None:
                        raise failure
                pause = FIRST_PAUSE
            except (ApiConnectionError, ApiError) as error:
                _raise_if_refused(error)
                _report(on_trouble, error)
                stopped.wait(pause)
                pause = min(pause * 2, LONGEST_PAUSE)


async def consume_events_async(
    payhook: AsyncPayhook,
    endpoint: str,
    handle: Callable[[Any, types.ClaimedEvent], Awaitable[object]],
    *,
    stop: asyncio.Event | None = None,
    limit: int = 10,
    lease_seconds: int = 60,
    consumer: str | None = None,
    on_trouble: OnTrouble | None = None,
) -> None:
    """The same for asyncio. `handle` is awaited.

    Cancelling the task cancels the handlers too: their events come again when their leases have ended.
    """
    stopped = stop or asyncio.Event()
    endpoints = payhook.webhook_endpoints

    async def extend(event: types.ClaimedEvent) -> None:
        while True:
            await asyncio.sleep(lease_seconds / 2)
            try:
                await endpoints.extend(endpoint, _extension(event, lease_seconds))
            except (ApiConnectionError, ApiError) as error:
                _report(on_trouble, error)

    async def work(event: types.ClaimedEvent) -> None:
        extending = asyncio.ensure_future(extend(event))
        try:
            await handle(json.loads(event["body"]), event)
            failure = None
        except Exception as error:
            failure = error
        finally:
            extending.cancel()
        await endpoints.acknowledge(endpoint, _acknowledgement(event, failure))

    async def claimed() -> types.WebhookClaim | None:
        body = _claim(limit, lease_seconds, ASYNC_WAIT_SECONDS, consumer)
        claiming = asyncio.ensure_future(
            endpoints.claim(endpoint, body, retries=0, timeout=SILENCE_SECONDS)
        )
        stopping = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({claiming, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return claiming.result() if claiming.done() else None
        finally:
            claiming.cancel()
            stopping.cancel()

    pause = FIRST_PAUSE
    while not stopped.is_set():
        try:
            claim = await claimed()
            if claim is None:
                return
            ended = await asyncio.gather(*map(work, claim["items"]), return_exceptions=True)
            for failure in ended:
                if isinstance(failure, BaseException):
                    raise failure
            pause = FIRST_PAUSE
        except (ApiConnectionError, ApiError) as error:
            _raise_if_refused(error)
            _report(on_trouble, error)
            try:
                await asyncio.wait_for(stopped.wait(), pause)
            except asyncio.TimeoutError:
                pause = min(pause * 2, LONGEST_PAUSE)


def _claim(limit: int, lease_seconds: int, wait_seconds: int, consumer: str | None) -> types.ClaimWebhookEventsBody:
    body: types.ClaimWebhookEventsBody = {
        "limit": limit,
        "lease_seconds": lease_seconds,
        "wait_seconds": wait_seconds,
    }
    if consumer is not None:
        body["consumer"] = consumer
    return body


def _extension(event: types.ClaimedEvent, lease_seconds: int) -> types.ExtendWebhookLeasesBody:
    return {"items": [{"id": event["id"], "lease_id": event["lease_id"]}], "lease_seconds": lease_seconds}


def _acknowledgement(
    event: types.ClaimedEvent, failure: Exception | None
) -> types.AcknowledgeWebhookEventsBody:
    if failure is None:
        return {"items": [{"id": event["id"], "lease_id": event["lease_id"], "status": "delivered"}]}
    text = str(failure)[:MOST_ERROR_TEXT] or type(failure).__name__
    return {"items": [{"id": event["id"], "lease_id": event["lease_id"], "status": "failed", "error": text}]}


def _raise_if_refused(error: Exception) -> None:
    # a server that stops, or whose disk is full, recovers
    if isinstance(error, ApiError) and error.status < 500 and error.status != 429:
        raise error


def _report(on_trouble: OnTrouble | None, error: Exception) -> None:
    if on_trouble is not None:
        on_trouble(error)
