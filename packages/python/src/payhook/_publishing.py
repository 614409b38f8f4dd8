"""Events in requests that the server accepts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .types import EventBatch, PublishEventBatchBody

MOST_EVENTS = 1000
# bytes of the events of a request: less than the 16 MiB that the server accepts
MOST_BYTES = 15 << 20


def requests_of(body: PublishEventBatchBody, options: Mapping[str, object]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The bodies and options of requests of at most 1,000 events and 15 MiB, which are sent one after the other.

    With an idempotency key, each of several requests has a key of its own, which is the same when the call is repeated.
    """
    batches: list[list[Any]] = [[]]
    size = 0
    for event in body["events"]:
        length = len(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode()) + 1
        last = batches[-1]
        if last and (len(last) == MOST_EVENTS or size + length > MOST_BYTES):
            last = []
            batches.append(last)
            size = 0
        last.append(event)
        size += length
    key = options.get("idempotency_key")
    if key is None or len(batches) == 1:
        return [({**body, "events": batch}, dict(options)) for batch in batches]
    return [
        ({**body, "events": batch}, {**options, "idempotency_key": f"{key}-{number}"})
        for number, batch in enumerate(batches)
    ]


def joined(batches: list[Any]) -> EventBatch:
    """The results of the requests as one."""
    items: list[Any] = []
    for batch in batches:
        before = len(items)
        items.extend({**item, "index": before + item["index"]} for item in batch["items"])
    return {"object": "event_batch", "items": items}
