"""The commands that open files, run in this process; what would be served is only made."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from typing import Any

from harness import examples

OPTIONS: dict[str, tuple[str, ...]] = {
    "report": ("--components", "2"),
    "explore": ("--components", "2"),
    "tree": ("--depth", "1"),
    "cards": ("--components", "2"),
    "topics": ("--components", "2"),
}
PREFIX = "lvmkit "


def names() -> list[str]:
    """Return the commands as they are typed."""
    return [f"{PREFIX}{name}" for name in OPTIONS]


def run(name: str, path: Any) -> tuple[int, str, str]:
    """Run a command on a file; return its code, what it printed, and what it told of errors."""
    from lvmkit_widgets.server import cli

    def made(factory: Any, options: Any, *, title: str) -> None:
        factory()

    command = name.removeprefix(PREFIX)
    out = [str(examples.folder() / "out.html")] if command == "report" else []
    said, told, served = io.StringIO(), io.StringIO(), cli._serve
    cli._serve = made
    try:
        with redirect_stdout(said), redirect_stderr(told):
            code = cli.main([command, str(path), *out, *OPTIONS[command]])
    finally:
        cli._serve = served
    return (
        code,
        re.sub(r"^\S+: |; [\d.]+ MB", "", said.getvalue()),
        _errors(command, told.getvalue()),
    )


def _errors(command: str, told: str) -> str:
    """Return what was told of errors, without notes about data."""
    start = f"lvmkit {command}: "
    return "\n".join(
        line.removeprefix(start) for line in told.splitlines() if not line.startswith("Note: ")
    )


@cache
def plain(name: str, make: Any) -> str:
    """Return what a command prints of a file that is right."""
    code, said, told = run(name, make())
    if code:
        msg = f"{name} refuses the file that is right: {told}"
        raise LookupError(msg)
    return said
