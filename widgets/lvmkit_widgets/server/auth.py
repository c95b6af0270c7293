"""Access rules of a served dashboard, asked before every request, of pages and sockets alike."""

from __future__ import annotations

import hmac
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tornado.httputil import HTTPHeaders, HTTPServerRequest, parse_cookie
from tornado.web import Application, OutputTransform, RequestHandler

TOKEN_HEADER = "X-Lvmkit-Token"
SHORTEST_TOKEN = 12
ROBOTS = "User-agent: *\nDisallow: /\n"
SECRETS = ("token", "bokeh-session-id", "bokeh-token")
"""Arguments that no handler and no line of the log sees: sessions are named by the server alone."""
HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
}
"""Headers of every response: shown in frames of the same site only, read by no other site."""

_access = logging.getLogger("tornado.access")


class _Closed(OutputTransform):
    """Adds `HEADERS` to every response, and takes back what Bokeh allows to other sites."""

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Change the headers; the rest stays as it is."""
        for name in [name for name in headers if name.startswith("Access-Control-")]:
            del headers[name]
        headers.update(HEADERS)
        return status_code, headers, chunk


class _Answer(RequestHandler):
    """Answers any method with a text: why a request is refused, or what needs no page."""

    def initialize(self, text: str, status: int = 403) -> None:
        """Keep the answer."""
        self.text, self.status = text, status

    def check_xsrf_cookie(self) -> None:
        """Nothing is done, so nothing can be forged."""

    def prepare(self) -> None:
        """Answer whatever the method is."""
        self.set_status(self.status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.finish(b"" if self.request.method == "HEAD" else self.text)


class _Welcome(RequestHandler):
    """Trades the token in the address for a cookie, so that the address can be shown."""

    def initialize(self, name: str, secret: str) -> None:
        """Keep the cookie."""
        self.name, self.secret = name, secret

    def get(self) -> None:
        """Set the cookie and go to the page, the only one there is, without the token."""
        # Lax, not Strict: a link in a mail or on another site must open the page, and nothing is
        # done for a request of another site that does not open a page (`AccessRules.refusal`).
        self.set_cookie(self.name, self.secret, httponly=True, samesite="Lax", path="/")
        query = self.request.query
        self.redirect(f"/?{query}" if query else "/")


@dataclass(kw_only=True, eq=False, repr=False)  # what is printed must not hold secrets
class AccessRules:
    """Lets in who knows the token and comes from the page itself."""

    token: str | None
    hosts: set[str] | None
    same_origin: bool = True
    cookie: str = "lvmkit"
    full: Callable[[], str] = str

    def __post_init__(self) -> None:
        if self.token is not None:
            check_token(self.token)
        self.secret = secrets.token_urlsafe(32)

    def protect(self, application: Application) -> None:
        """Ask this guard before every request of an application."""
        find = application.find_handler

        def find_guarded(request: HTTPServerRequest, **options: Any) -> Any:
            reason = self.refusal(request)
            welcome = not reason and self.token is not None and self._brings_token(request)
            forget_secrets(request)
            if welcome:
                cookie = {"name": self.cookie, "secret": self.secret}
                return application.get_handler_delegate(request, _Welcome, cookie)
            answer = {"text": reason} if reason else _answer_without_page(request)
            if answer is None and request.path == "/" and (text := self.full()):
                answer = {"text": text, "status": 503}
            if answer is None:
                return find(request, **options)
            return application.get_handler_delegate(request, _Answer, answer)

        application.find_handler = find_guarded  # type: ignore[method-assign]
        application.add_transform(_Closed)
        application.settings["log_function"] = _log_answer

    def refusal(self, request: HTTPServerRequest) -> str:
        """Return why a request is refused, or nothing."""
        if self.hosts is not None and request.host.lower() not in self.hosts:
            return (
                f"This server does not answer to the name {request.host!r}: open the address that was printed "
                "when it was started; a tunnel must end at the same port here as there."
            )
        origin = request.headers.get("Origin")
        socket = request.headers.get("Upgrade", "").lower() == "websocket"
        if socket and self.same_origin and _place(origin or "") != request.host:
            return "This server opens connections only for its own pages."
        if _is_embedded_elsewhere(request):
            return "This dashboard opens in a window of its own, not inside pages of another site."
        if self.token is not None and not self._knows_token(request):
            return (
                "This dashboard needs its token: open the whole address that was printed when it "
                "was started, with ?token=… at its end."
            )
        return ""

    def _brings_token(self, request: HTTPServerRequest) -> bool:
        """Return whether the request has the token in its address."""
        given = request.query_arguments.get("token", [b""])[-1].decode("utf-8", "replace")
        return _same(given, self.token or "")

    def _knows_token(self, request: HTTPServerRequest) -> bool:
        """Return whether the request brings the token or the cookie that stands for it."""
        header = request.headers.get(TOKEN_HEADER, "")
        # Read as browsers do: what other programs of this host keep need not be to a standard's taste.
        cookie = parse_cookie(request.headers.get("Cookie", "")).get(self.cookie, "")
        known = self._brings_token(request) or _same(header, self.token or "")
        return known or _same(cookie, self.secret)


def check_token(token: str) -> None:
    """Refuse a token that is too short to be a secret."""
    if len(token) < SHORTEST_TOKEN:
        msg = f"the token has {len(token)} characters; use at least {SHORTEST_TOKEN}"
        raise ValueError(msg)


def _place(address: str) -> str:
    """Return host and port of an address; nothing if it is none."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def _same(given: str, secret: str) -> bool:
    """Compare in a time that does not tell how much was right."""
    return hmac.compare_digest(given.encode("utf-8"), secret.encode("utf-8"))


def forget_secrets(request: HTTPServerRequest) -> None:
    """Take tokens and names of sessions out of a request, so that no handler uses or logs them."""
    for name in SECRETS:
        for arguments in (request.arguments, request.query_arguments):
            arguments.pop(name, None)
    for name in (TOKEN_HEADER, "Bokeh-Session-Id"):
        request.headers.pop(name, None)
    path, _, query = (request.uri or "/").partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    request.query = urlencode([(key, value) for key, value in pairs if key not in SECRETS])
    request.path, request.uri = path, f"{path}?{request.query}" if request.query else path


def _is_embedded_elsewhere(request: HTTPServerRequest) -> bool:
    """Return whether another site asks for more than to open the page in a window."""
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return False
    mode, target = (request.headers.get(f"Sec-Fetch-{name}", "") for name in ("Mode", "Dest"))
    return not (request.method == "GET" and mode == "navigate" and target == "document")


def _answer_without_page(request: HTTPServerRequest) -> dict[str, Any] | None:
    """Return text and status for requests that are no visit; None for those that are."""
    purpose = request.headers.get("Sec-Purpose") or request.headers.get("Purpose") or ""
    if purpose.strip().lower().startswith(("prefetch", "prerender", "preview")):
        return {"text": "This page is not prepared before it is visited.", "status": 503}
    if request.path == "/robots.txt":
        return {"text": ROBOTS, "status": 200}
    if request.path.endswith("/autoload.js"):
        return {"text": "This dashboard cannot be put into other pages."}
    if request.method == "HEAD":
        return {"text": "", "status": 200 if request.path == "/" else 404}
    return None


def _log_answer(handler: RequestHandler) -> None:
    """Log a request as Tornado does, without its arguments."""
    request, status = handler.request, handler.get_status()
    level = logging.INFO if status < 400 else logging.WARNING if status < 500 else logging.ERROR
    what = f"{request.method} {request.path} ({request.remote_ip})"
    _access.log(level, "%d %s %.2fms", status, what, 1000.0 * request.request_time())
