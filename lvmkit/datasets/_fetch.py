"""Public data sets: found on this machine or downloaded, and verified by checksum."""

import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pooch

from lvmkit.core.writing import replacing

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Remote:
    """A table of a public data set: where it lies and how to know that it is whole."""

    folder: str
    file: str
    sha256: str
    """Of the content: uncompressed if the file is .gz, so that it holds for every source and compression."""
    urls: tuple[str | tuple[str, ...], ...]
    """Original sources, tried in order, of one file or of several; none where it has to be brought by hand."""
    convert: Callable[..., bytes]
    """Turns the downloaded file, or files, into the content."""


def obtain(remote: Remote) -> Path:
    """Return the verified file: from LVMKIT_DATA, else the user's cache, else its original source."""
    return found(remote) or _download(remote, _places(remote)[-1])


def found(remote: Remote) -> Path | None:
    """Return the verified file if it is on this machine."""
    for place in _places(remote):
        if place.is_file():
            _verify(remote, place)
            return place
    return None


def read_text(path: Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Read columns of a CSV as text, empty where missing."""
    return pd.read_csv(path, dtype=str, keep_default_na=False, usecols=columns)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Write a table as the CSV text whose checksum is known."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def line_bytes(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Write rows as the lines of JSON whose checksum is known."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _places(remote: Remote) -> list[Path]:
    """Where a file may lie on this machine, best first."""
    shared = os.environ.get("LVMKIT_DATA")
    cache = Path(os.environ.get("LVMKIT_CACHE") or pooch.os_cache("lvmkit"))
    folders = [Path(shared), cache] if shared else [cache]
    return [folder / remote.folder / remote.file for folder in folders]


def _verify(remote: Remote, path: Path) -> None:
    """Refuse a file that is not the published one."""
    try:
        content = _unpacked(path.name, path.read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error):
        content = b""
    if hashlib.sha256(content).hexdigest() != remote.sha256:
        msg = (
            f"{remote.folder}/{remote.file} is damaged or another version: its checksum differs. "
            "Delete the file, or copy it again, and repeat."
        )
        raise ValueError(msg)


def _unpacked(name: str, data: bytes) -> bytes:
    """Return the content of a file: uncompressed if it is gzip."""
    return gzip.decompress(data) if name.endswith(".gz") else data


def _packed(name: str, content: bytes) -> bytes:
    """Return the data of the file that holds a content."""
    # Level 9 takes more than twice as long for one percent less.
    return gzip.compress(content, 6, mtime=0) if name.endswith(".gz") else content


def _download(remote: Remote, target: Path) -> Path:
    """Try every source; keep the converted table if its checksum is right."""
    reasons = []
    for source in remote.urls:
        urls = (source,) if isinstance(source, str) else source
        url = urls[0] if len(urls) == 1 else f"{urls[0]} and {len(urls) - 1} more"
        try:
            content = _fetched(urls, remote.convert)
        except (OSError, ValueError, KeyError) as error:
            reasons.append(f"{url}: {str(error).splitlines()[0][:200]}")
            continue
        if hashlib.sha256(content).hexdigest() == remote.sha256:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as file:
                file.write(_packed(remote.file, content))
            return target
        reasons.append(f"{url}: the checksum differs from the published data's")
    msg = (
        f"{remote.folder} is not on this machine and {_failed(reasons)}put {remote.file} into the folder "
        f"{remote.folder!r} of the folder that the environment variable LVMKIT_DATA names."
    )
    raise ConnectionError(msg)


def _failed(reasons: list[str]) -> str:
    """Say why there was no download and what else would help."""
    if not reasons:
        return "has no address to download it from: "
    return (
        f"could not be downloaded ({'; '.join(reasons)}). Connect to the internet and repeat, or "
    )


def _fetched(urls: tuple[str, ...], convert: Callable[..., bytes]) -> bytes:
    """Download the files of one source and return the table that they hold."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)
        # the table inside is verified, not its packaging, which publishers renew
        paths = [
            pooch.retrieve(
                url, known_hash=None, fname=f"download{i}", path=folder, downloader=downloader
            )
            for i, url in enumerate(urls)
        ]
        return convert(*map(Path, paths))
