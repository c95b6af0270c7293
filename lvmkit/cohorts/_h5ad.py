"""Safe reading of h5ad files: no links to other files, sound matrices, known versions."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anndata
import h5py
import numpy as np
from scipy import sparse

from lvmkit.core.features import first_place
from lvmkit.core.reading import require_file
from lvmkit.core.validation import check_structure, listed
from lvmkit.core.writing import in_words

MAX_DEPTH = 50
"""Groups one inside another."""
MAX_UNSTORED_BYTES = 1 << 30
"""Bytes that all arrays together may hold beyond the largest expansion of what is stored."""
TRIAL = Path(__file__).with_name("_h5ad_trial.py")
TRIAL_SECONDS, TRIAL_BYTES_PER_SECOND = 20, 1_000_000
"""Patience with the trial of a file."""
BEGAN, ENDED = b"lvmkit: began", b"lvmkit: ended"
"""Answers of the trial."""
_MOST_COMPRESSED = 1_100  # deflate, at best


def read_h5ad(path: str | Path) -> Any:
    """Read an h5ad as AnnData, after its links and sizes are checked; then check its sparse matrices in full."""
    path = require_file(path)
    try:
        _try(path)
        if not h5py.is_hdf5(path):
            msg = f"“{path.name}” is no h5ad file (HDF5); write it again, or name another."
            raise _RefusedError(msg)
        with h5py.File(path, "r") as file:
            _check_links(file, path.name)
            _check_parts(file, path.name)
        cohort = anndata.read_h5ad(path)
        _check_matrices(cohort, path.name)
        _check_entries(cohort, path.name)
    except (_RefusedError, PermissionError, FileNotFoundError) as error:
        if isinstance(error, OSError):  # it vanished, or was closed to us, meanwhile
            raise in_words(error, path, "read") from error
        raise ValueError(str(error)) from error
    except MemoryError as error:
        msg = f"“{path.name}” needs more memory than there is; keep fewer records or codes in it."
        raise ValueError(msg) from error
    except Exception as error:  # whatever the readers of the format raise on a damaged file
        raise ValueError(_incomplete(path, error)) from error
    return cohort


class _RefusedError(ValueError):
    """Error: a file holds what is not allowed; the message names the file."""


def _try(path: Path) -> None:
    """Refuse a file on which the HDF5 library ends the process, or does not end: a process of its own tries it."""
    # What does not say that it began tells nothing of the file: there is no Python to start, or it is another program.
    if getattr(sys, "frozen", False) or not sys.executable:
        return
    command = [sys.executable, "-P", str(TRIAL), str(path.absolute())]
    patience = TRIAL_SECONDS + path.stat().st_size / TRIAL_BYTES_PER_SECOND
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=patience, check=False
        )
    except subprocess.TimeoutExpired as error:
        said, reason = error.stdout, f"was not read within {patience:.0f} seconds"
    except OSError:
        return
    else:
        said, reason = done.stdout, "is damaged so that the HDF5 library fails on it"
        if (
            done.returncode in (0, 1) or ENDED in said
        ):  # 1: an error that is told when it is read here
            return
    if BEGAN in (said or b""):
        msg = f"“{path.name}” {reason}; get another copy, or write it again."
        raise _RefusedError(msg)


def _check_links(file: Any, name: str) -> None:
    """Refuse links and arrays that lead out of the file, and whatever is reached a second time."""
    # anndata writes no second link to anything; groups linked twice, one inside another, have more paths than can be
    # walked, by it or here.
    seen = {h5py.h5o.get_info(file.id).addr}
    waiting, room = [(file, 0)], MAX_UNSTORED_BYTES
    while waiting:
        group, depth = waiting.pop()
        if depth > MAX_DEPTH:
            msg = f"“{name}” is nested too deeply at {group.name[:60]!r}; write it again with anndata."
            raise _RefusedError(msg)
        for key in group:
            link, place = group.get(key, getlink=True), f"{group.name.rstrip('/')}/{key}"
            if isinstance(link, h5py.ExternalLink):
                other = Path(link.filename).name
                _refuse_link(name, place, f"a link to {link.path!r} of the file {other!r}")
            if isinstance(link, h5py.SoftLink):
                _refuse_link(name, place, f"a link to {link.path!r}")
            item = group[key]
            here = h5py.h5o.get_info(item.id).addr
            if here in seen:
                _refuse_link(name, place, "a second link to the same part of the file")
            seen.add(here)
            if isinstance(item, h5py.Dataset):
                room -= _unstored(item, name, place, room)
            elif isinstance(item, h5py.Group):
                waiting.append((item, depth + 1))


def _unstored(dataset: Any, name: str, place: str, room: int) -> int:
    """Return the bytes that an array declares beyond what is stored; refuse more than `room`, and other files."""
    if dataset.external:
        _refuse_link(
            name, place, f"an array stored in the file {Path(dataset.external[0][0]).name!r}"
        )
    if dataset.is_virtual:
        files = sorted({Path(source.file_name).name for source in dataset.virtual_sources()})
        _refuse_link(name, place, f"an array put together from {', '.join(map(repr, files[:3]))}")
    size, stored = dataset.size or 0, dataset.id.get_storage_size()
    declared = size * dataset.dtype.itemsize
    beyond = max(0, declared - stored * _MOST_COMPRESSED)
    if beyond > room:
        msg = (
            f"“{name}” declares {declared:,} bytes at {place!r} and stores {stored:,}: it is damaged or made to "
            "fill the memory; write it again with anndata."
        )
        raise _RefusedError(msg)
    return beyond


def _refuse_link(name: str, place: str, found: str) -> None:
    """Refuse what would read something else than the file that was opened."""
    msg = f"“{name}” holds at {place!r} {found}, which is not followed; write the data itself into the file."
    raise _RefusedError(msg)


def _check_parts(file: Any, name: str) -> None:
    """Refuse a file without the names of its records and codes."""
    missing = [part for part in ("obs", "var") if part not in file]
    if missing:
        msg = f"“{name}” is not a complete h5ad file (it lacks {listed(missing)}); write it again with anndata."
        raise _RefusedError(msg)


def _check_entries(cohort: Any, name: str) -> None:
    """Refuse entries of X that are negative, infinite or none, by the names of their record and code."""
    X = cohort.X.data if sparse.issparse(cohort.X) else cohort.X
    if X.dtype.kind in "bu" or not X.size or (X.min() >= 0 and X.max() < np.inf):
        return
    rows = sparse.csr_array(cohort.X) if sparse.issparse(cohort.X) else cohort.X
    values = rows.data if sparse.issparse(rows) else rows
    wrong = ~(values >= 0) | (values == np.inf)
    found = values.ravel()[np.flatnonzero(wrong.ravel())[0]]
    place = first_place(rows, wrong, (cohort.obs_names, cohort.var_names))
    msg = (
        f"“{name}” holds {found:g} in X, {place}; a cohort holds counts, or 0 and 1: "
        "correct these entries, or leave their records or codes out."
    )
    raise _RefusedError(msg)


def _check_matrices(cohort: Any, name: str) -> None:
    """Check every sparse matrix before anything computes with it; refuse what holds no numbers."""
    for place, matrix in _matrices(cohort):
        try:
            known = check_structure(matrix, place)
        except ValueError as error:
            msg = f"“{name}”: {error}"
            raise _RefusedError(msg) from error
        if known is not matrix:  # its indexes had no sign, or the other byte order
            matrix.indices, matrix.indptr = known.indices, known.indptr
    kind = getattr(getattr(cohort.X, "dtype", None), "kind", "")
    if kind not in ("b", "i", "u", "f"):
        found = "nothing" if cohort.X is None else f"what is no numbers ({cohort.X.dtype})"
        msg = f"“{name}” holds {found} as X; put the records × codes there."
        raise _RefusedError(msg)


def _matrices(cohort: Any) -> Iterator[tuple[str, Any]]:
    """Name X, the layers and whatever else may be sparse."""
    yield "X", cohort.X
    for part in ("layers", "obsm", "varm", "obsp", "varp"):
        named: Mapping[str, Any] = getattr(cohort, part)
        for key in named:
            if key is None:  # X again, from anndata 0.13 on
                continue
            yield f"{part}[{key!r}]", named[key]
    if cohort.raw is not None:
        yield "raw.X", cohort.raw.X


def _incomplete(path: Path, error: Exception) -> str:
    """Say that a file cannot be read: a part of a later version, or what is missing."""
    later = _later_part(path, error) if type(error).__name__ == "IORegistryError" else None
    if later:
        return (
            f"“{path.name}” was written by a later anndata: its part {later}, which anndata {version('anndata')} "
            "here cannot read; update anndata, or write the file with an earlier one."
        )
    return f"“{path.name}” is not a complete h5ad file ({_reason(error)}); write it again."


def _reason(error: Exception) -> str:
    """Say what the readers found, without their own words for it."""
    first = (str(error).splitlines() or [type(error).__name__])[0].strip("\"'.")
    if first.startswith("Unable to"):  # the reason follows in brackets
        first = first.partition("(")[2] or "a part of it cannot be read"
        first = first.removesuffix(")")
    if first.startswith("truncated file"):
        return "it is cut short"
    unknown = re.search(r"unexpected keyword argument '?(.*)", first)
    return f"it holds {unknown[1]!r}, which no cohort has" if unknown else first[:200]


def _later_part(path: Path, error: Exception) -> str | None:
    """Name the part of a file that anndata had no reader for, with its encoding."""
    parts: list[tuple[str, str, str]] = []

    def note(name: str, item: Any) -> None:
        kind, number = (str(item.attrs.get(f"encoding-{part}", "")) for part in ("type", "version"))
        parts.append((f"/{name}", kind, number))

    with suppress(Exception), h5py.File(path, "r") as file:  # it may be damaged besides
        note("", file)
        file.visititems(note)
    said = str(error)
    for place, kind, number in parts:
        if f"encoding_type={kind!r}" in said and f"encoding_version={number!r}" in said:
            return f"{place!r} is of the encoding {kind!r}, version {number!r}"
    return None
