"""Lists, as one page or as all records."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .types import Pagination

Item = TypeVar("Item")
Query = Mapping[str, Any]
ITERATED_PER_PAGE = 100


@dataclass(frozen=True)
class Page(Generic[Item]):
    """A page of a list with its exact total."""

    data: list[Item]
    pagination: Pagination


def first_query(query: Query, order: str | None) -> dict[str, Any]:
    """The query of the first page of a loop: in the order in which new records come last, unless another is given."""
    chosen = dict(query)
    if chosen.get("per_page") is None:
        chosen["per_page"] = ITERATED_PER_PAGE
    if chosen.get("after") is None:
        chosen["page"] = chosen.get("page") or 1
        if chosen.get("sort") is None and order is not None:
            chosen["sort"] = order
    return chosen


def next_query(query: Query, page: Page[Item]) -> dict[str, Any] | None:
    """The query of the page after this one; None after the last."""
    after = page.pagination.get("next")
    return None if after is None else {**query, "page": None, "after": after}


class Listing(Generic[Item]):
    """A list that has not been requested yet. `page()` gives one page, iteration every record from that page on.

    Each page starts after the last record of the previous one, so that records added or deleted meanwhile cause neither repeats
    nor gaps. Without `sort`, iteration is by id, ascending, and new records come at the end.
    """

    def __init__(self, load: Callable[[Query], Page[Item]], query: Query, order: str | None) -> None:
        self._load = load
        self._query = query
        self._order = order

    def page(self) -> Page[Item]:
        """Requests one page."""
        return self._load(self._query)

    def __iter__(self) -> Iterator[Item]:
        query: Query | None = first_query(self._query, self._order)
        while query is not None:
            page = self._load(query)
            yield from page.data
            query = next_query(query, page)


class AsyncListing(Generic[Item]):
    """A list that has not been requested yet. `await page()` gives one page, `async for` every record from that page on.

    Each page starts after the last record of the previous one, so that records added or deleted meanwhile cause neither repeats
    nor gaps. Without `sort`, iteration is by id, ascending, and new records come at the end.
    """

    def __init__(self, load: Callable[[Query], Awaitable[Page[Item]]], query: Query, order: str | None) -> None:
        self._load = load
        self._query = query
        self._order = order

    async def page(self) -> Page[Item]:
        """Requests one page."""
        return await self._load(self._query)

    async def __aiter__(self) -> AsyncIterator[Item]:
        query: Query | None = first_query(self._query, self._order)
        while query is not None:
            page = await self._load(query)
            for item in page.data:
                yield item
            query = next_query(query, page)
