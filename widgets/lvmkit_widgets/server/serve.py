"""Serving dashboards to this machine, to others that know a token, and behind Jupyter."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import urlencode

import panel as pn
from panel.io.server import get_server

from lvmkit.core.folders import folders_of
from lvmkit_widgets.server.auth import TOKEN_HEADER, AccessRules
from lvmkit_widgets.server.visits import DAY, MOST_PAGES, SECONDS_TO_CONNECT, VisitLimit
from lvmkit_widgets.ui.words import refuse

PORT = 5006

TOKEN_VARIABLE = "LVMKIT_TOKEN"
PAGE_STYLE = ":root { color-scheme: light dark; } html, body { background: Canvas; }"


def serve(
    factory: Callable[[], Any],
    *,
    address: str = "127.0.0.1",
    port: int = PORT,
    token: str | None = None,
    show: bool = True,
    title: str = "lvmkit",
    start: bool = True,
    idle_minutes: float | None = None,
    most_pages: int = MOST_PAGES,
) -> Any:
    """Serve dashboards, a new one for every visitor, until interrupted."""
    # A visitor first gets a page that says what is being opened; the dashboard is made once that page has connected, so
    # that requests which are no visit cost nothing. It ends a minute after its page was closed or has lost the
    # connection, and when nothing was done for `idle_minutes`; the page then says so. No other site can show the page
    # in a frame. With a token, visitors can open and write files only below the folder that the server was started in
    # (and open those below the folder LVMKIT_DATA). Without a token, whoever has an account on this machine can open
    # the page, too.
    _check_positive(idle_minutes=idle_minutes, most_pages=most_pages)
    local = is_local(address)
    if not local and not token:
        refuse(
            f"address {address!r} lets other machines connect, and what is shown would be open "
            "to them; pass a secret as token, or use address='127.0.0.1'"
        )
    open_only = folders_of(Path.cwd()) if token or not local else None
    minutes = DAY if idle_minutes is None and open_only is not None else idle_minutes
    visits = VisitLimit(
        factory, title=title, folders=open_only, max_pages=most_pages, minutes=minutes
    )
    server = _server(visits, address=address, port=port)
    guard = AccessRules(
        token=token,
        hosts=_names(address, server.port) if local else None,
        cookie=f"lvmkit-{server.port}",
        full=partial(visits.full, server),
    )
    guard.protect(server._tornado)
    if show:
        path = f"/?{urlencode({'token': token})}" if token else "/"
        server.io_loop.add_callback(lambda: server.show(path))
    if start:
        run(server)
    return server


def run(server: Any) -> None:
    """Run a server until it is interrupted."""
    server.start()
    try:
        server.io_loop.start()
    finally:
        server.stop()


def is_local(address: str) -> bool:
    """Return whether only this machine can reach an address."""
    if address == "localhost":
        return True
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def proxy() -> dict[str, Any]:
    """Return how Jupyter's server starts the workbench on the bundled cohort and reaches it."""
    # The workbench listens on this machine only, and only answers requests that carry a token which Jupyter's server
    # adds; so other users of the machine cannot pass by Jupyter's own login. Whoever is logged in to Jupyter has a
    # terminal, and may open and save files below the home folder and the folder in which Jupyter was started, but no
    # others.
    token = secrets.token_urlsafe(32)
    return {
        "command": [sys.executable, "-m", "lvmkit_widgets.server.serve", "--port", "{port}"],
        "environment": {TOKEN_VARIABLE: token},
        "request_headers_override": {TOKEN_HEADER: token},
        "timeout": 90,
        "launcher_entry": {"title": "lvmkit workbench"},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the workbench behind Jupyter's server; the token comes from the environment."""
    parser = argparse.ArgumentParser(prog="lvmkit_widgets.server.serve", description=main.__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args(arguments).port
    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        parser.error(f"set {TOKEN_VARIABLE}, or use `lvmkit explore` to open the workbench")
    visits = VisitLimit(bundled, title="lvmkit", folders=folders_of(Path.cwd(), Path.home()))
    server = _server(visits, address="127.0.0.1", port=port)
    full = partial(visits.full, server)
    AccessRules(token=token, hosts=None, same_origin=False, full=full).protect(server._tornado)
    run(server)


def bundled() -> Any:
    """Return the workbench on the cohort that comes with lvmkit."""
    from lvmkit_widgets.workbench.dashboard import Workbench

    return Workbench("discharges")


def address_of(address: str, port: int) -> str:
    """Return the address that a browser opens, such as http://127.0.0.1:5006/."""
    if address.strip("[]") in ("0.0.0.0", "::"):  # every address of this machine
        address = gethostname()
    return f"http://{_bracketed(address)}:{port}/"


def _bracketed(address: str) -> str:
    """Write an address as it stands before a port."""
    bare = address.strip("[]")
    return f"[{bare}]" if ":" in bare else bare


def _names(address: str, port: int) -> set[str]:
    """Return under which names a server for this machine answers."""
    names = {"127.0.0.1", "localhost", "[::1]", _bracketed(address)}
    return {f"{name}:{port}" for name in names} | (names if port == 80 else set())


def _check_positive(**options: float | None) -> None:
    """Refuse lifetimes and numbers of pages that let nobody in."""
    for name, value in options.items():
        if value is not None and not value > 0:
            refuse(f"{name} must be positive, not {value!r}")


def _server(visits: VisitLimit, *, address: str, port: int) -> Any:
    """Return a server that is not yet guarded nor running."""
    if PAGE_STYLE not in pn.config.raw_css:
        pn.config.raw_css = [*pn.config.raw_css, PAGE_STYLE]
    # Bokeh warns users of the "*" below, which lets nobody in: the guard asks where a socket comes from.
    logging.getLogger("bokeh.server.util").addFilter(_is_no_wildcard)
    try:
        return get_server(
            {"/": visits.page},
            port=port,
            address=address.strip("[]"),
            websocket_origin="*",  # Panel's own list differs by version
            title=visits.title,
            location=False,
            # names of sessions are the server's own, and no secret of the request is in the page
            sign_sessions=True,
            secret_key=secrets.token_bytes(32),
            include_headers=[],
            include_cookies=[],
            unused_session_lifetime_milliseconds=SECONDS_TO_CONNECT * 1000,
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        msg = f"port {port} is in use; choose another, or 0 for a free one"
        raise ValueError(msg) from error


def _is_no_wildcard(record: logging.LogRecord) -> bool:
    """Return whether a record of the log is not about wildcards."""
    return not str(record.msg).startswith("Host wildcard")


if __name__ == "__main__":
    main()
