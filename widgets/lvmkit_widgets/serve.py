"""Serving a dashboard on this machine, for its user only; also behind Jupyter's own server."""

from __future__ import annotations

import argparse
import errno
import logging
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlencode

import panel as pn
from panel.io.server import get_server

from lvmkit_widgets.dashboard import Dashboard
from lvmkit_widgets.guard import TOKEN_HEADER, Guard
from lvmkit_widgets.kinds import Text

log = logging.getLogger(__name__)
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
) -> Any:
    """Serve dashboards, a new one for every visitor, until interrupted.

    Parameters
    ----------
    factory : callable
        Returns a new dashboard.
    address : str
        Where to listen. Anything but this machine itself needs a token.
    port : int
        0 takes a free port.
    token : str, optional
        A secret that every request must know: ``?token=…`` once, a cookie from then on.
    show : bool
        Whether to open the page in a browser.
    title : str
        Title of the page.
    start : bool
        False returns the server without running it, for tests.

    Returns
    -------
    panel.io.server.Server
        The server; after it has stopped, unless ``start`` is False.

    Raises
    ------
    ValueError
        If other machines could connect and there is no token, or the port is taken.
    """
    local = is_local(address)
    if not local and not token:
        msg = (
            f"address {address!r} lets other machines connect, and what is shown would be open "
            "to them; pass a secret as token, or use address='127.0.0.1'"
        )
        raise ValueError(msg)
    server = _server(factory, address=address, port=port, title=title, any_origin=not local)
    hosts = {f"{name}:{server.port}" for name in ("127.0.0.1", "localhost", "[::1]")}
    guard = Guard(token=token, hosts=hosts if local else None, cookie=f"lvmkit-{server.port}")
    guard.protect(server._tornado)
    if show:
        path = f"/?{urlencode({'token': token})}" if token else "/"
        server.io_loop.add_callback(lambda: server.show(path))
    if start:
        run(server)
    return server


def run(server: Any) -> None:
    """Run a server until it is interrupted.

    Parameters
    ----------
    server : panel.io.server.Server
        What `serve` returned with ``start=False``.
    """
    server.start()
    try:
        server.io_loop.start()
    finally:
        server.stop()


def is_local(address: str) -> bool:
    """Return whether only this machine can reach an address.

    Parameters
    ----------
    address : str
        Where a server listens.

    Returns
    -------
    bool
        True for ``localhost`` and loopback addresses.

    Examples
    --------
    >>> is_local("127.0.0.1"), is_local("0.0.0.0")
    (True, False)
    """
    if address == "localhost":
        return True
    try:
        return ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def proxy() -> dict[str, Any]:
    """Return how Jupyter's server starts the workbench on the bundled cohort and reaches it.

    The workbench listens on this machine only, and only answers requests that carry a token which
    Jupyter's server adds; so other users of the machine cannot pass by Jupyter's own login.

    Returns
    -------
    dict
        The settings of a ``jupyter_serverproxy_servers`` entry point.
    """
    token = secrets.token_urlsafe(32)
    return {
        "command": [sys.executable, "-m", "lvmkit_widgets.serve", "--port", "{port}"],
        "environment": {TOKEN_VARIABLE: token},
        "request_headers_override": {TOKEN_HEADER: token},
        "timeout": 90,
        "launcher_entry": {"title": "lvmkit workbench"},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the workbench behind Jupyter's server; the token comes from the environment.

    Parameters
    ----------
    arguments : sequence of str, optional
        Command line; by default the program's own.
    """
    parser = argparse.ArgumentParser(prog="lvmkit_widgets.serve", description=main.__doc__)
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args(arguments).port
    token = os.environ.get(TOKEN_VARIABLE)
    if not token:
        parser.error(f"set {TOKEN_VARIABLE}, or use `lvmkit explore` to open the workbench")
    server = _server(bundled, address="127.0.0.1", port=port, title="lvmkit", any_origin=True)
    Guard(token=token, hosts=None, same_origin=False).protect(server._tornado)
    run(server)


def bundled() -> Any:
    """Return the workbench on the cohort that comes with lvmkit."""
    from lvmkit_widgets.workbench import Workbench

    return Workbench("discharges")


def _server(
    factory: Callable[[], Any], *, address: str, port: int, title: str, any_origin: bool
) -> Any:
    """Return a server that is not yet guarded nor running."""
    if PAGE_STYLE not in pn.config.raw_css:
        pn.config.raw_css = [*pn.config.raw_css, PAGE_STYLE]
    try:
        return get_server(
            {"/": lambda: _page(factory)},
            port=port,
            address=address,
            websocket_origin="*" if any_origin else None,
            title=title,
            location=False,
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        msg = f"port {port} is in use; choose another, or 0 for a free one"
        raise ValueError(msg) from error


def _page(factory: Callable[[], Any]) -> Any:
    """Return a new dashboard's page, or one that tells in plain words why there is none."""
    try:
        return factory().__panel__()
    except Exception as error:
        log.exception("a dashboard could not be made")
        why = f"The dashboard could not be opened: {error or type(error).__name__}"
        sorry = Text(text=f"{why}\n\nDetails are where the program was started.", tone="warning")
        return Dashboard({"sorry": sorry}, "sorry", title="lvmkit").__panel__()


if __name__ == "__main__":
    main()
