"""How many pages show a dashboard at once, without a browser."""

import threading
from types import SimpleNamespace

import pytest

from lvmkit_widgets.server.visits import VisitLimit


class Host:
    """A page whose loop is turned by hand, and that tells whether its idle clock was started."""

    here = True

    def __init__(self):
        self.connected, self.waiting, self.clocks = True, [], []
        self.document = SimpleNamespace(
            on_change=self.clocks.append, add_timeout_callback=lambda *_: None
        )

    def call(self, function):
        self.waiting.append(function)

    def turn(self):
        while self.waiting:
            self.waiting.pop(0)()


def visits(factory=None, **options):
    shown = SimpleNamespace(__panel__=lambda: "dashboard")
    return VisitLimit(factory or (lambda: shown), title="Board", **options)


def opened(found, host):
    """Return whether a page shows a dashboard."""
    frame = []
    found._make(host, frame)
    host.turn()
    return frame == ["dashboard"]


def test_pages_without_a_dashboard_take_no_place_of_those_with_one():
    """Before, visitors who were refused kept each other out."""
    found, first = visits(max_pages=1, minutes=60), Host()
    assert opened(found, first)
    refused = [Host(), Host()]
    assert not any(opened(found, host) for host in refused)
    assert (len(first.clocks), [host.clocks for host in refused]) == (1, [[], []])
    first.connected = False
    assert opened(found, Host())


def test_pages_whose_dashboard_cannot_be_made_take_no_place():
    answers = iter(["", "broken", "dashboard"])

    def factory():
        return SimpleNamespace(__panel__={"dashboard": lambda: "dashboard"}[next(answers)])

    found = visits(factory, max_pages=1, minutes=60)
    broken = [Host(), Host()]
    assert not any(opened(found, host) for host in broken)
    assert [host.clocks for host in broken] == [[], []]
    assert opened(found, Host())


@pytest.mark.parametrize("most", [1, 3])
def test_pages_that_come_together_are_counted_before_their_loop_turns(most):
    """Before, each looked before those ahead of it were counted."""
    found, hosts = visits(max_pages=most), [Host() for _ in range(5)]
    frames = [[] for _ in hosts]
    makers = [
        threading.Thread(target=found._make, args=pair) for pair in zip(hosts, frames, strict=True)
    ]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    for host in hosts:
        host.turn()
    assert sum(frame == ["dashboard"] for frame in frames) == most


def test_a_page_that_is_gone_when_its_dashboard_is_there_takes_no_place():
    first = Host()

    def factory():
        first.connected = False
        return SimpleNamespace(__panel__=lambda: "dashboard")

    found = visits(factory, max_pages=1)
    opened(found, first)
    assert opened(found, Host())


def test_a_dashboard_that_has_ended_takes_no_place():
    found, first, frame = visits(max_pages=1, minutes=1e-9), Host(), []
    first.document.remove_on_change = first.clocks.remove
    found._make(first, frame)
    first.turn()
    assert frame != ["dashboard"]
    found.minutes = None
    assert opened(found, Host())
