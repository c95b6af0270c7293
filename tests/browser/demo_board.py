"""A dashboard with every kind of part, small or as large as the goals name; no real data."""

import threading
import time

import numpy as np

from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.heatmap import heat_fields
from lvmkit_widgets.ui.widgets import (
    ClusterList,
    Form,
    Heat,
    Picture,
    Relevance,
    Status,
    Table,
    Text,
)

HOSTILE = "<img src=x onerror=alert(1)> & =1+1"
LAYOUT = {
    "sidebar": ["controls"],
    "main": [
        "status",
        "sizes",
        {
            "id": "views",
            "tabs": [
                {"title": "Codes", "content": "relevance"},
                {"title": "Patients by disease", "content": "heat"},
                {"title": "Records", "content": {"row": ["table", "picture"], "widths": [2, 1]}},
                {"title": "About", "content": {"section": "words", "title": "More"}},
            ],
        },
    ],
}
CONTROLS = [
    {"name": "k", "kind": "number", "label": "Clusters", "min": 2, "max": 40, "step": 1},
    {"name": "prior", "kind": "range", "label": "Prior", "min": 0, "max": 1, "step": 0.1},
    {
        "name": "start",
        "kind": "select",
        "label": "Start",
        "options": [["a", "first"], ["b", "other"]],
    },
    {"name": "drop", "kind": "multiselect", "label": "Leave out", "options": []},
    {"name": "name", "kind": "text", "label": "Name", "suggestions": ["Heart", "Kidney"]},
    {"name": "notes", "kind": "textarea", "label": "Notes"},
    {"name": "adults", "kind": "check", "label": "Adults only"},
    {"name": "fit", "kind": "button", "label": "Fit", "primary": True},
    {"name": "wrong", "kind": "button", "label": "Fail"},
    {"name": "file", "kind": "button", "label": "Download"},
]
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 70">
<a href="#cluster=0"><rect aria-label="cluster 0" x="5" y="5" width="200" height="14" fill="#0072b2"/></a>
<a href="#cluster=1"><rect aria-label="cluster 1" x="5" y="25" width="100" height="14" fill="#0072b2"/></a>
<a href="#code=428"><text x="5" y="60">428</text></a></svg>"""


def board(*, n=2_000, k=16, d=700, columns=40):
    """Return the dashboard; ``board.heard`` lists what the listeners heard."""
    rng = np.random.default_rng(0)
    weights = np.sort(rng.dirichlet(np.full(k, 3.0)))[::-1]
    centers = np.clip(rng.beta(0.4, 12, size=d) * np.exp(rng.normal(size=(k, d))), 1e-4, 0.95)
    labels = np.sort(rng.choice(k, size=n, p=weights / weights.sum()))
    codes = [str(200 + i) for i in range(d)]
    titles = [f"Disease {i % 9} of system {i % 5}" for i in range(d)]
    titles[-1] = HOSTILE
    top = np.sort(np.argsort(-(weights @ centers))[:columns])
    X = (rng.random((n, columns)) < centers[labels][:, top]).astype(np.float32)
    names = [f"Cluster {j + 1}" for j in range(k)]
    shown = {"codes": [codes[i] for i in top], "titles": [titles[i] for i in top], "names": names}
    controls = [dict(c) for c in CONTROLS]
    controls[3]["options"] = [list(pair) for pair in zip(codes, titles, strict=True)]
    counts = np.bincount(labels, minlength=k)
    parts = {
        "status": Status(),
        "controls": Form(title="Model", help="Choose **k**.", controls=controls, values={"k": 16}),
        "sizes": ClusterList(
            title="Clusters",
            help="Patients by their most likely cluster.",
            items=[
                {"id": j, "name": names[j], "n": counts[j], "share": counts[j] / n}
                for j in range(k)
            ],
            selected=0,
        ),
        "relevance": Relevance(
            title="Codes",
            help="What sets the cluster apart.",
            centers=centers.astype(np.float32).tobytes(),
            weights=weights,
            codes=codes,
            titles=titles,
            names=names,
        ),
        "heat": Heat(title="Heat", **heat_fields(X, labels, max_rows=10**9, **shown)),
        "table": Table(
            title="Records",
            rows=_rows(120),
            columns=COLUMNS,
            key="id",
            searchable=True,
            download="records.csv",
        ),
        "picture": Picture(title="Shares", svg=SVG, alt="Shares of clusters", download="shares"),
        "words": Text(text=f"## Words\nSome **bold** text: {HOSTILE}\n\n- first\n- second"),
    }
    links = [("sizes.selected", "relevance.cluster"), ("sizes.selected", "heat.selected")]
    return _listening(Dashboard(parts, LAYOUT, title="Demo", subtitle=HOSTILE, links=links))


COLUMNS = [
    {"key": "id", "label": "Record", "kind": "code"},
    {"key": "age", "label": "Age", "kind": "integer"},
    {"key": "p", "label": "Probability", "kind": "bar", "max": 1},
    {"key": "n", "label": "Patients", "kind": "integer"},
    {"key": "why", "label": "Why", "kind": "text"},
]


def _rows(n):
    """Return rows with numbers, hidden counts and text that wants to be markup."""
    return [
        {
            "id": f"R{i:03}",
            "age": 20 + i % 70,
            "p": i / n,
            "n": i * 10 if i % 7 else "<11",
            "why": HOSTILE,
        }
        for i in range(n)
    ]


def _listening(dashboard):
    """Answer the reader: picks change the words; Fit works in steps until it is let go."""
    dashboard.heard = []
    dashboard.go_on = threading.Event()
    dashboard.go_on.set()
    words = dashboard.components["words"]

    def heard(part, field):
        def note(value):
            dashboard.heard.append((f"{part}.{field}", value))
            words.text = f"{part}.{field} {len(dashboard.heard)}: {value}"

        return note

    for part, field in [
        ("table", "pick"),
        ("relevance", "pick"),
        ("relevance", "balance"),
        ("heat", "pick"),
        ("picture", "pick"),
        ("sizes", "selected"),
        ("sizes", "others"),
        ("controls", "values"),
        ("status", "pressed"),
    ]:
        dashboard.listen(part, field, heard(part, field))
    dashboard.listen("controls", "pressed", lambda name: _pressed(dashboard, name))
    return dashboard


def _pressed(dashboard, name):
    """Do what a button says."""
    if name == "wrong":
        msg = "Choose two clusters first."
        raise ValueError(msg)
    if name == "file":
        dashboard.download("table.csv", b"a,b\r\n", mime="text/csv")
        return
    k = dashboard.components["controls"].values["k"]

    def work(progress):
        for step in range(10):
            progress(f"Step {step + 1} of 10", (step + 1) / 10)
            time.sleep(0.1)
        while not dashboard.go_on.wait(0.02):
            progress("Waiting", 0.99)
        return k

    dashboard.background(
        work, lambda k: dashboard.say(f"Fitted {k} clusters.", actions=[("undo", "Undo: fit")])
    )
