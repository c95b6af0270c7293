"""Rooms and arrows: what imports what, over the whole repository and inside each part."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "lvmkit": ROOT / "lvmkit",
    "lvmkit_widgets": ROOT / "widgets/lvmkit_widgets",
    "lvmkit_data": ROOT / "data/lvmkit_data",
    "benchmarks": ROOT / "benchmarks",
}

Arrows = set[tuple[str, str]]


def module_name(package: str, path: Path) -> str:
    """Name a file as it is imported."""
    parts = [package, *path.relative_to(PACKAGES[package]).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {
    module_name(package, path): path
    for package, folder in PACKAGES.items()
    for path in folder.rglob("*.py")
}


def known(name: str) -> str | None:
    """Return the module of the repository that a dotted name is of, or lies in."""
    parts = name.split(".")
    while parts and ".".join(parts) not in FILES:
        parts.pop()
    return ".".join(parts) or None


def type_checking(node: ast.AST) -> bool:
    """Tell what is under `if TYPE_CHECKING`, which is never imported."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes, those inside functions too, except what only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if not type_checking(node):
            yield node
            yield from nodes(node)


def imported(module: str) -> set[str]:
    """Return the modules of the repository that a module names in its imports."""
    found = set()
    for node in nodes(ast.parse(FILES[module].read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            # `from lvmkit import scores` is of the part, `from lvmkit import load` of lvmkit itself.
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {target for target in map(known, names) if target is not None}
    return found - {module}


@cache
def imports() -> dict[str, set[str]]:
    """Return what every module imports; not read where tests are only collected."""
    return {module: imported(module) for module in FILES}


def room(module: str) -> str:
    """Return the room of a module: a part of lvmkit, or one of the other packages as a whole."""
    first, *rest = module.split(".")
    return f"lvmkit.{rest[0]}" if first == "lvmkit" and rest else first


def part(module: str) -> str:
    """Return the part of its package that a module lies in."""
    return ".".join(module.split(".")[:2])


def arrows_between(place: dict[str, str]) -> Arrows:
    """Return the pairs of places of which one imports anything of the other."""
    pairs = {
        (place[module], place[target])
        for module, targets in imports().items()
        for target in targets
        if module in place and target in place
    }
    return {(start, end) for start, end in pairs if start != end}


def circle(arrows: Arrows) -> list[str]:
    """Return a circle of arrows, or nothing."""
    below: dict[str, set[str]] = {}
    for start, end in arrows:
        below.setdefault(start, set()).add(end)
    try:
        TopologicalSorter(below).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def floors(arrows: Arrows, parts: set[str]) -> int:
    """Return how many parts the longest chain of arrows has."""
    below: dict[str, set[str]] = {name: {b for a, b in arrows if a == name} for name in parts}
    height: dict[str, int] = {}
    for name in TopologicalSorter(below).static_order():
        height[name] = 1 + max((height[lower] for lower in below[name]), default=0)
    return max(height.values())


def listed(arrows: Arrows) -> str:
    """Write arrows for whoever reads a failure."""
    starts = sorted({start for start, _ in arrows})
    return f"{len(arrows)} arrows\n" + "\n".join(
        f"{start} -> {' '.join(sorted(end for a, end in arrows if a == start))}" for start in starts
    )


def parts_of(package: str, *, beside: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the part of each module of a package, but for its own `__init__`."""
    return {
        module: part(module)
        for module in FILES
        if module.startswith(package + ".") and part(module) not in beside
    }


def test_few_arrows_lead_from_room_to_room() -> None:
    arrows = arrows_between({module: room(module) for module in FILES})
    assert len(arrows) <= 65, listed(arrows)


def test_few_arrows_lead_from_dashboard_to_dashboard() -> None:
    arrows = arrows_between(parts_of("lvmkit_widgets"))
    assert len(arrows) <= 20, listed(arrows)


def test_the_library_has_few_parts_on_few_floors() -> None:
    place = parts_of("lvmkit")
    parts, arrows = set(place.values()), arrows_between(place)
    assert len(parts) <= 15, sorted(parts)
    assert floors(arrows, parts) <= 8, listed(arrows)


def test_the_dashboards_have_few_parts() -> None:
    parts = set(parts_of("lvmkit_widgets").values())
    assert len(parts) <= 11, sorted(parts)


def test_no_circle_leads_through_parts() -> None:
    for package in ("lvmkit", "lvmkit_widgets"):
        arrows = arrows_between(parts_of(package))
        assert circle(arrows) == [], listed(arrows)


def test_no_circle_leads_through_modules() -> None:
    arrows = arrows_between({module: module for module in FILES})
    assert circle(arrows) == []
