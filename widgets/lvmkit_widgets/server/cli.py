"""The command ``lvmkit``: open dashboards, write a report, fetch public data."""

from __future__ import annotations

import argparse
import inspect
import os
import re
import secrets
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from lvmkit.core.folders import expanded
from lvmkit.core.writing import in_words, replacing, require_place
from lvmkit_widgets.server.parser import parser
from lvmkit_widgets.ui.words import refuse
from lvmkit_widgets.workbench.registry import DASHBOARDS, READING, Entry, existing


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    try:
        with _noted():
            RUN[options.command](options)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001 - who types a command gets a sentence, whatever happens
        if options.debug:
            traceback.print_exc()
        print(f"lvmkit {options.command}: {_told(error)}", file=sys.stderr)
        return 1
    return 0


def _told(error: Exception) -> str:
    """Say in a sentence what went wrong; where to find the details of what nobody expected."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return str(in_words(error, Path(os.fsdecode(error.filename)), "open"))
    if isinstance(error, MemoryError):
        return "this needs more memory than there is; use fewer records, codes or clusters"
    first = (str(error).splitlines() or [""])[0]
    if isinstance(error, (ValueError, OSError, ImportError)) and first:
        return _in_words(first)
    reason = f"{type(error).__name__}{': ' if first else ''}{first[:200]}"
    return f"this should not happen ({reason}); the details are in {_details()}: please report them"


def _details() -> str:
    """Write the traceback to a file of the user's own; return where, or how to see it."""
    try:
        handle, name = tempfile.mkstemp(prefix="lvmkit-error-", suffix=".log")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exc(file=file)
    except OSError:
        return "what lvmkit --debug prints"
    return name


@contextmanager
def _noted() -> Iterator[None]:
    """Print what data and models warn of as notes: the line of code tells nothing to who types a command."""
    as_code = warnings.showwarning

    def told(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, UserWarning):
            print(f"Note: {_in_words(str(message))}", file=sys.stderr)
        else:
            as_code(message, category, *place, **more)

    with warnings.catch_warnings():
        warnings.showwarning = told
        yield


def _in_words(message: str) -> str:
    """Say a message of the library in the words of the command: --max-words=5, not max_words=5."""
    message = re.sub(r"\bn_components\b", "--components", message)
    message = re.sub(r"\bmax_score\b", "--max-score", message)
    for name in READING:
        option = f"--{name.replace('_', '-')}"
        message = re.sub(rf"\b{name}(?==)|^{name}(?=: )", option, message)
    return message.removeprefix("source: ")


def _check_address(options: argparse.Namespace) -> None:
    """Refuse to open what is shown to other machines without a secret, before there is anything to show."""
    if options.token is not None and options.token != "new":
        import_module("lvmkit_widgets.server.auth").check_token(options.token)
    if options.token or import_module("lvmkit_widgets.server.serve").is_local(options.address):
        return
    refuse(
        f"--address {options.address} lets other machines connect, and what is shown would be open to them; "
        "add --token new, or leave --address out"
    )


def _show(entry: Entry, options: argparse.Namespace) -> None:
    """Fit what a dashboard shows, and serve it until interrupted."""
    getattr(import_module("lvmkit_widgets"), entry.dashboard)  # or says what to install
    _check_address(options)
    source = getattr(options, "file", None) or getattr(options, "source", None)
    title = f"{expanded(source).resolve().name} – {entry.title}" if source else entry.title
    _serve(entry.prepare(options), options, title=title)


def _serve(factory: Callable[[], Any], options: argparse.Namespace, *, title: str) -> None:
    """Serve a dashboard until interrupted; each visitor's has a copy of the model, since names are kept in it."""
    token = secrets.token_urlsafe(24) if options.token == "new" else options.token
    serving = import_module("lvmkit_widgets.server.serve")
    server = serving.serve(
        factory,
        address=options.address,
        port=options.port,
        token=token,
        show=not options.no_browser,
        title=title,
        start=False,
    )
    query = f"?{urlencode({'token': token})}" if token else ""
    print(f"{title} is at {serving.address_of(options.address, server.port)}{query}")
    print("Stop it with Ctrl+C.", flush=True)
    serving.run(server)


def _report(options: argparse.Namespace) -> None:
    """Fit a mixture to a file and save the explorer as a page."""
    path = existing(options.file)
    out = expanded(options.out)
    if not out.name:
        refuse(f"name the page that is to be written, such as report.html, not {options.out!r}")
    if out.suffix.lower() not in {".html", ".htm"}:
        refuse(f"the report is a page: name it {out.with_suffix('.html').name!r}, not {out.name!r}")
    require_place(out)
    widgets = import_module("lvmkit_widgets")
    cohort = import_module("lvmkit.cohorts.open_file").open_cohort(path)
    model = import_module("lvmkit").BernoulliMixture(n_components=options.components, binarize=0)
    model.fit(cohort)
    written = widgets.ClusterExplorer(model, cohort, name=path.name).to_html(out)
    n, d = cohort.shape
    size = written.stat().st_size / 1e6
    print(f"{written}: {n:,} records, {d:,} codes, {options.components} clusters; {size:.1f} MB")


def _fetch(options: argparse.Namespace) -> None:
    """Download a data set."""
    out = expanded(options.out) if options.out else None
    if out and not out.name:
        refuse(
            f"name the file that is to be written, such as {options.name}.h5ad, not {options.out!r}"
        )
    if out and out.suffix != ".h5ad":
        refuse(f"the cohort is saved as h5ad: name it {out.with_suffix('.h5ad').name!r}")
    fetcher = _fetcher(options.name)
    if out:
        require_place(out)
    cohort = fetcher()
    if not hasattr(cohort, "var"):
        print(f"{options.name}: {cohort!r}")
        if out:
            refuse(
                f"{options.name} has several modes, which h5ad cannot hold: use "
                f"lvmkit.datasets.fetch_{options.name}() in Python"
            )
        return
    n, d = cohort.shape
    kind = "words" if "word" in set(cohort.var["system"]) else "codes"
    print(f"{options.name}: {n:,} records, {d:,} {kind}")
    if out:
        _write_h5ad(cohort, out)
        print(f"saved as {out}; explore it with: lvmkit explore {out}")


def _write_h5ad(cohort: Any, path: Path) -> None:
    """Write a cohort to a file, as a whole or not at all; HDF5 itself needs a file of its own to write to."""
    with tempfile.TemporaryDirectory(prefix="lvmkit-") as folder:
        whole = Path(folder) / "cohort.h5ad"
        cohort.write_h5ad(whole)
        with replacing(path) as file, whole.open("rb") as source:
            shutil.copyfileobj(source, file)


def _fetcher(name: str) -> Callable[[], Any]:
    """Return the function that fetches a data set."""
    datasets = import_module("lvmkit.datasets")
    known = {
        key.removeprefix("fetch_"): function
        for key, function in inspect.getmembers(datasets, inspect.isfunction)
        if key.startswith("fetch_")
    }
    if name not in known:
        refuse(f"there is no data set {name!r}; there are {', '.join(known)}")
    return known[name]


RUN: dict[str, Callable[[argparse.Namespace], None]] = {
    **{entry.command: partial(_show, entry) for entry in DASHBOARDS},
    "report": _report,
    "fetch": _fetch,
}

if __name__ == "__main__":
    sys.exit(main())
