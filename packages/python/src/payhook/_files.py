"""Files that are sent and received."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Union

import httpx

from ._errors import ApiConnectionError

Upload = Union[str, bytes, "os.PathLike[str]", BinaryIO]
"""A file to upload: its text or bytes, a path, or a file opened for reading bytes, from its current position."""

CHUNK = 64 * 1024


class Source:
    """An upload that each attempt reads from its beginning. A file that cannot seek is read once."""

    def __init__(self, upload: Upload) -> None:
        self._file: BinaryIO | None = None
        self._bytes: bytes | None = None
        self._path: os.PathLike[str] | None = None
        self.is_repeatable = True
        self.size: int | None = None
        if isinstance(upload, str | bytes):
            self._bytes = upload.encode() if isinstance(upload, str) else upload
            self.size = len(self._bytes)
        elif isinstance(upload, os.PathLike):
            self._path = upload
            self.size = os.stat(upload).st_size
        else:
            self._file = upload
            self.is_repeatable = upload.seekable()
            self._start = upload.seek(0, os.SEEK_CUR) if self.is_repeatable else 0

    def chunks(self) -> Iterator[bytes]:
        """The bytes, from the beginning."""
        if self._bytes is not None:
            yield self._bytes
        elif self._path is not None:
            with open(self._path, "rb") as file:
                yield from iter(lambda: file.read(CHUNK), b"")
        elif self._file is not None:
            if self.is_repeatable:
                self._file.seek(self._start)
            yield from iter(lambda: self._file.read(CHUNK) if self._file else b"", b"")

    async def async_chunks(self) -> AsyncIterator[bytes]:
        """The same for an asynchronous client."""
        for chunk in self.chunks():
            yield chunk


@dataclass(frozen=True)
class FileHeaders:
    """What the headers say about a file.

    `revision`: of the payout in the file, for `if_match`. `skipped`, `above_limit`, `in_other_files`: numbers of affiliates, of
    a payment file. `file_set`, `replaces_file_set`: ids of file sets (`pfs_…`).
    """

    name: str | None
    revision: int | None
    skipped: int | None
    above_limit: int | None
    file_set: str | None
    replaces_file_set: str | None
    in_other_files: int | None


def file_headers(headers: httpx.Headers) -> FileHeaders:
    """Reads the headers. The name has no folder."""

    def number(name: str, pattern: str = r"(\d+)") -> int | None:
        match = re.fullmatch(pattern, headers.get(name, ""))
        return int(match[1]) if match else None

    name = re.search(r'filename="([^"/\\]+)"', headers.get("content-disposition", ""))
    return FileHeaders(
        name=name[1] if name else None,
        revision=number("etag", r'"(\d+)"'),
        skipped=number("payhook-skipped-affiliates"),
        above_limit=number("payhook-affiliates-above-limit"),
        file_set=headers.get("payhook-file-set"),
        replaces_file_set=headers.get("payhook-replaces-file-set"),
        in_other_files=number("payhook-affiliates-in-other-files"),
    )


def cut_off(error: Exception) -> ApiConnectionError:
    return ApiConnectionError(f"the download was cut off: {error or type(error).__name__}")


def part_of(path: str | os.PathLike[str]) -> Path:
    """Where a file is written until it is complete."""
    return Path(f"{os.fspath(path)}.part")


class Download:
    """A file being downloaded. Read it to its end or close it (`with`): until then it holds its connection."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.about = file_headers(response.headers)

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        """The content in pieces. Raises ApiConnectionError if it is cut off; without an error it is complete."""
        try:
            yield from self._response.iter_bytes()
        except httpx.HTTPError as error:
            raise cut_off(error) from error
        finally:
            self.close()

    def read(self) -> bytes:
        """The whole content."""
        return b"".join(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the content to a file, which appears when it is complete."""
        part = part_of(path)
        try:
            with open(part, "wb") as file:
                for chunk in self:
                    file.write(chunk)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Ends the download."""
        self._response.close()


class AsyncDownload:
    """A file being downloaded. Read it to its end or close it (`async with`): until then it holds its connection."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.about = file_headers(response.headers)

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The content in pieces. Raises ApiConnectionError if it is cut off; without an error it is complete."""
        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except httpx.HTTPError as error:
            raise cut_off(error) from error
        finally:
            await self.aclose()

    async def read(self) -> bytes:
        """The whole content."""
        return b"".join([chunk async for chunk in self])

    async def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the content to a file, which appears when it is complete."""
        part = part_of(path)
        try:
            with open(part, "wb") as file:
                async for chunk in self:
                    file.write(chunk)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    async def aclose(self) -> None:
        """Ends the download."""
        await self._response.aclose()
