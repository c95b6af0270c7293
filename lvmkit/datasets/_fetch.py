"""Public data sets: found on this machine or downloaded, and verified either way."""

import gzip
import hashlib
import os
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pooch

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Remote:
    """A table of a public data set: where it lies and how to know that it is whole."""

    folder: str
    file: str
    sha256: str
    """Of the uncompressed CSV text, so that it holds for every source and compression."""
    urls: tuple[str, ...]
    """Original sources, tried in order."""
    convert: Callable[[Path], bytes]
    """Turns a downloaded file into the CSV text."""


def obtain(remote: Remote) -> Path:
    """Return the verified file: from LVMKIT_DATA, else the user's cache, else its original source."""
    for place in _places(remote):
        if place.is_file():
            _verify(remote, place)
            return place
    return _download(remote, _places(remote)[-1])


def read_text(path: Path, columns: list[str] | None = None) -> pd.DataFrame:
    """Read columns of a CSV as text, empty where missing."""
    return pd.read_csv(path, dtype=str, keep_default_na=False, usecols=columns)


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """Write a table as the CSV text whose checksum is known."""
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _places(remote: Remote) -> list[Path]:
    """Where a file may lie on this machine, best first."""
    shared = os.environ.get("LVMKIT_DATA")
    cache = Path(os.environ.get("LVMKIT_CACHE") or pooch.os_cache("lvmkit"))
    folders = [Path(shared), cache] if shared else [cache]
    return [folder / remote.folder / remote.file for folder in folders]


def _verify(remote: Remote, path: Path) -> None:
    """Refuse a file that is not the published one."""
    try:
        text = gzip.decompress(path.read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error):
        text = b""
    if hashlib.sha256(text).hexdigest() != remote.sha256:
        msg = (
            f"{remote.folder}/{remote.file} is damaged or another version: its checksum differs. "
            "Delete the file, or copy it again, and repeat."
        )
        raise ValueError(msg)


def _download(remote: Remote, target: Path) -> Path:
    """Try every source; keep the converted table if its checksum is right."""
    reasons = []
    for url in remote.urls:
        try:
            text = _fetched(url, remote.convert)
        except (OSError, ValueError, KeyError) as error:
            reasons.append(f"{url}: {str(error).splitlines()[0][:200]}")
            continue
        if hashlib.sha256(text).hexdigest() == remote.sha256:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial = target.with_suffix(".partial")
            partial.write_bytes(gzip.compress(text, mtime=0))
            partial.replace(target)
            return target
        reasons.append(f"{url}: the checksum differs from the published data's")
    msg = (
        f"{remote.folder} is not on this machine and could not be downloaded ({'; '.join(reasons)}). "
        f"Connect to the internet and repeat, or put {remote.file} into the folder {remote.folder!r} of the "
        "folder that the environment variable LVMKIT_DATA names."
    )
    raise ConnectionError(msg)


def _fetched(url: str, convert: Callable[[Path], bytes]) -> bytes:
    """Download one file and return the table that it holds."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        downloader = pooch.HTTPDownloader(timeout=TIMEOUT_SECONDS)
        # the table inside is verified, not its packaging, which publishers renew
        path = pooch.retrieve(
            url, known_hash=None, fname="download", path=folder, downloader=downloader
        )
        return convert(Path(path))
