"""Who may talk to a served dashboard: a rule asked before every request, pages and sockets alike."""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tornado.httputil import HTTPServerRequest
from tornado.web import Application, RequestHandler

TOKEN_HEADER = "X-Lvmkit-Token"
SHORTEST_TOKEN = 12


class _Refusal(RequestHandler):
    """Answers in plain words why a request is refused."""

    def initialize(self, reason: str) -> None:
        """Keep the reason."""
        self.reason = reason

    def prepare(self) -> None:
        """Answer whatever the method is."""
        self.set_status(403)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(self.reason)


class _Welcome(RequestHandler):
    """Trades the token in the address for a cookie, so that the address can be shown."""

    def initialize(self, name: str, secret: str) -> None:
        """Keep the cookie."""
        self.name, self.secret = name, secret

    def get(self) -> None:
        """Set the cookie and go to the same page without the token."""
        self.set_cookie(self.name, self.secret, httponly=True, samesite="Strict", path="/")
        parts = urlsplit(self.request.uri or "/")
        query = [(key, value) for key, value in parse_qsl(parts.query) if key != "token"]
        path = "/" + parts.path.lstrip("/")
        self.redirect(f"{path}?{urlencode(query)}" if query else path)


class Guard:
    """Lets in who knows the token and comes from the page itself.

    Parameters
    ----------
    token : str or None
        None lets in every local request.
    hosts : set of str or None
        Names under which the server may be called, with port; None allows any. This keeps other
        web sites from reaching a local server under a name of their own.
    same_origin : bool
        Whether sockets are only opened for pages of this server.
    cookie : str
        Name of the cookie that stands for the token.

    Raises
    ------
    ValueError
        If the token is too short to be a secret.
    """

    def __init__(
        self,
        *,
        token: str | None,
        hosts: set[str] | None,
        same_origin: bool = True,
        cookie: str = "lvmkit",
    ) -> None:
        if token is not None and len(token) < SHORTEST_TOKEN:
            msg = f"the token has {len(token)} characters; use at least {SHORTEST_TOKEN}"
            raise ValueError(msg)
        self.token = token
        self.hosts = hosts
        self.same_origin = same_origin
        self.cookie = cookie
        self.secret = secrets.token_urlsafe(32)

    def protect(self, application: Application) -> None:
        """Ask this guard before every request of an application.

        Parameters
        ----------
        application : tornado.web.Application
            What is served; pages, files and sockets alike.
        """
        find = application.find_handler

        def find_guarded(request: HTTPServerRequest, **options: Any) -> Any:
            reason = self.refusal(request)
            if reason:
                return application.get_handler_delegate(request, _Refusal, {"reason": reason})
            if self.token is not None and "token" in request.query_arguments:
                cookie = {"name": self.cookie, "secret": self.secret}
                return application.get_handler_delegate(request, _Welcome, cookie)
            return find(request, **options)

        application.find_handler = find_guarded  # type: ignore[method-assign]

    def refusal(self, request: HTTPServerRequest) -> str:
        """Return why a request is refused, or nothing.

        Parameters
        ----------
        request : tornado.httputil.HTTPServerRequest
            The request.

        Returns
        -------
        str
            A sentence for the reader; empty lets the request in.
        """
        if self.hosts is not None and request.host.lower() not in self.hosts:
            return f"This server does not answer to the name {request.host!r}."
        origin = request.headers.get("Origin")
        socket = request.headers.get("Upgrade", "").lower() == "websocket"
        if socket and self.same_origin and urlsplit(origin or "").netloc != request.host:
            return "This server opens connections only for its own pages."
        if self.token is not None and not self._knows_token(request):
            return (
                "This dashboard needs its token: open the whole address that was printed when it "
                "was started, with ?token=… at its end."
            )
        return ""

    def _knows_token(self, request: HTTPServerRequest) -> bool:
        """Return whether the request brings the token or the cookie that stands for it."""
        given = request.query_arguments.get("token", [b""])[-1].decode("utf-8", "replace")
        header = request.headers.get(TOKEN_HEADER, "")
        token = self.token or ""
        return (
            _same(given, token) or _same(header, token) or _same(self._cookie(request), self.secret)
        )

    def _cookie(self, request: HTTPServerRequest) -> str:
        """Return the cookie's value."""
        try:
            jar = SimpleCookie(request.headers.get("Cookie", ""))
        except CookieError:
            return ""
        return jar[self.cookie].value if self.cookie in jar else ""


def _same(given: str, secret: str) -> bool:
    """Compare in a time that does not tell how much was right."""
    return hmac.compare_digest(given.encode("utf-8"), secret.encode("utf-8"))
