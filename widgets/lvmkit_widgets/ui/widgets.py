"""The kinds of components; ``static/<kind>.js`` draws each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param

from lvmkit_widgets.ui import rules
from lvmkit_widgets.ui.component import Component, Event, Field
from lvmkit_widgets.ui.rules import Rule

RELEVANCE_COLUMNS = ("code", "title", "n", "total", "share", "overall", "lift", "relevance")


class Shell(Component):
    """The dashboard's own fields: its heading, layout, open tabs, links, and files handed over."""

    kind: ClassVar[str] = "stage"
    sent: ClassVar[Mapping[str, Rule]] = {
        "tabs": rules.tabs,
        "view": rules.view,
        "told": rules.count,
        "repeated": rules.repeats,
    }

    subtitle = param.String("", doc="One line under the heading, such as cohort and size.")
    layout = Field(None, doc="Where the components stand; see `Dashboard`.")
    kinds = Field({}, doc="Name of each component to its kind.")
    tabs = Field({}, doc="Id of each tab group to the open tab.")
    links = Field([], doc="Pairs of 'component.field', kept equal.")
    cases = Field([], doc="Values that a saved page switches between.")
    saved = param.Boolean(default=False, doc="True in a saved page, where no Python answers.")
    # Each is [key, component, field, range or None, first value].
    addressed = Field([], doc="What the page's address carries.")
    menu = Field([], doc="[key, label, help] of dashboards to turn to.")
    here = param.String("", doc="Which of them this is.")
    view = param.String("", doc="Which of them the reader asks for.")
    unsaved = param.Boolean(default=False, doc="Whether work would be lost with the page.")
    footer = param.String("", doc="Small print under the last section.")
    file = param.Bytes(b"", doc="A file on its way to the reader.")
    file_sent = Field([0, None], doc="[count, {name, mime}] of the file.")
    file_taken = Event(rules.count, doc="The browser has saved the file.")
    # How a page and Python tell answers that are out of date: see `keeping` in ``static/stage.js``.
    told = param.Integer(0, doc="Number of the newest message of a page.")
    heard = param.Integer(0, doc="The largest of them that Python has taken.")
    repeated = Field([0, []], doc="[count, names] of fields that a page showed again.")


class Form(Component):
    """Labelled controls declared as data."""

    # Each control is a dict: ``name``, ``kind`` (number, range, select, multiselect, text, textarea, check, button,
    # note), ``label``, and as needed ``help``, ``min``, ``max``, ``step``, ``options`` (values, or ``[value, label]``
    # pairs), ``suggestions`` (for text), ``placeholder``, ``primary``, ``danger``, ``disabled``, ``wide``, ``rows``.

    sent: ClassVar[Mapping[str, Rule]] = {"values": rules.values}

    controls = Field([], doc="The controls, in order.")
    values = Field({}, doc="Name of the control to its value.")
    errors = Field({}, doc="Name of the control to what is wrong.")
    busy = param.Boolean(default=False, doc="While true every control is disabled.")
    inline = param.Boolean(
        default=False, doc="Controls side by side instead of one under the other."
    )
    pressed = Event(rules.button, doc="A button was pressed: its name. Values have arrived before.")
    needs_python = param.Boolean(default=True, doc="Saved pages leave the part out.")


class Status(Component):
    """What is going on: at work with progress, done with a way back, an error in plain words."""

    state_now: Any = param.Selector(
        default="idle", objects=["idle", "busy", "done", "info", "error"], doc="What to show."
    )
    message = param.String("", doc="One or two plain sentences.")
    progress = param.Number(None, allow_None=True, doc="0 to 1; None while unknown.")
    can_cancel = param.Boolean(default=False, doc="Whether a cancel button is shown while busy.")
    actions = Field([], doc="Pairs [name, label] of buttons, as undo.")
    cancel = Event(rules.nothing, doc="The reader wants the work to stop.")
    waiting = param.Boolean(default=False, doc="Whether work waits for a browser that shows it.")
    seen = Event(rules.nothing, doc="A browser shows the dashboard while work waits for that.")
    pressed = Event(rules.action, doc="An action was pressed: its name.")
    needs_python = param.Boolean(default=True, doc="Saved pages leave the part out.")


class ClusterList(Component):
    """The clusters in a strip, with number and share of patients; one is selected."""

    sent: ClassVar[Mapping[str, Rule]] = {"selected": rules.item, "others": rules.items}

    # Dicts: id (int), name, n (number, or text such as '<11'), share (0..1 or None), note; more (text).
    items = Field([], doc="The clusters, in order.")
    selected = param.Integer(None, allow_None=True, doc="Id of the selected cluster.")
    others = Field([], doc="Ids added by shift-click or shift-enter.")
    row_name = param.String("patients", doc="What is counted.")
    comparable = param.Boolean(default=True, doc="Whether Shift adds clusters to `others`.")


class Relevance(Component):
    """Codes of a cluster ranked by relevance, which the browser computes for any balance."""

    # ``r = balance * log(mu) + (1 - balance) * log(mu / overall)`` (Ruffini et al. 2017, section 4).

    sent: ClassVar[Mapping[str, Rule]] = {
        "balance": rules.share,
        "sort": rules.order_of(*RELEVANCE_COLUMNS),
        "search": rules.words,
        "code": rules.code_or_none,
        "spread": rules.spread,
        "spread_total": rules.total,
    }
    filled: ClassVar[frozenset[str]] = frozenset({"spread", "spread_total"})

    centers = param.Bytes(b"", doc="float32, clusters x codes: the share of each code; NaN hides.")
    overall = param.Bytes(b"", doc="float32, one per code; empty: weights times centers.")
    weights = Field([], doc="Share of each cluster.")
    codes = Field([], doc="Codes, one per column of centers.")
    titles = Field([], doc="What each code means.")
    names = Field([], doc="Name of each cluster, in the rows' order.")
    cluster = param.Integer(0, allow_None=True, doc="Row of centers that is shown.")
    balance = param.Number(0.6, bounds=(0, 1), doc="Lambda: 1 ranks by share, 0 by lift.")
    sort = Field(["relevance", "desc"], doc="[column, asc or desc].")
    top = param.Integer(25, bounds=(1, None), doc="Number of rows shown.")
    search = param.String("", doc="Only codes or titles with every one of these words.")
    code = param.String("", doc="The code that is marked.")
    counts = param.Bytes(b"", doc="int32, clusters x codes: records with the code; -1 hides.")
    size = param.Integer(0, doc="Number of records; what `counts` sum to, where none is hidden.")
    totals = param.Bytes(b"", doc="int32, one per code: how often it occurs; bars then show this.")
    empty = Field([], doc="Rows of centers that stand for nothing.")
    labels = Field({}, doc="Words for columns and keys; see relevance.js.")
    download = param.String("", doc="File name without ending: a button saves the rows as CSV.")
    spreads = param.Boolean(default=False, doc="Whether the browser keeps `spread` up to date.")
    spread = Field([], doc="Part of each cluster in the marked code.")
    spread_total = param.Integer(None, allow_None=True, doc="How often the marked code occurs.")
    pick = Event(rules.code, doc="A code was picked.")


class Heat(Component):
    """Patients (rows, sorted by cluster) by codes (columns), painted on a canvas."""

    # Fill it with `lvmkit_widgets.ui.heatmap.heat_fields`.

    sent: ClassVar[Mapping[str, Rule]] = {"code": rules.column_or_none}

    cells = param.Bytes(b"", doc="uint8, rows x columns, 255 is one.")
    columns = Field([], doc="Dicts: code, title.")
    bands = Field([], doc="Dicts: id, name, start, stop (rows), n.")
    per_row = param.Number(1.0, doc="Patients that one row stands for, on average.")
    hidden = Field([], doc="Pairs [id, column] that are not shown.")
    coarse = param.Boolean(default=False, doc="Whether cells are rounded, so that none counts.")
    selected = param.Integer(None, allow_None=True, doc="Id of the marked cluster.")
    code = param.String("", doc="The code that is marked.")
    height = param.Integer(420, bounds=(80, None), doc="Height of the picture in pixels.")
    row_name = param.String("patients", doc="What a row is.")
    pick = Event(rules.cell, doc="A cell was picked: {cluster, code}.")


class Table(Component):
    """Rows and columns of text and numbers; sorted and paged in the browser or by Python."""

    # A column is a dict: ``key``, ``label``, ``kind`` (text, integer, number, percent, lift, p, bar, code), and as
    # needed ``help``, ``digits``, ``max`` (for bar). A cell is a number, None, or text; text in a column of numbers,
    # such as '<11', is shown as it is and sorts below all numbers.

    sent: ClassVar[Mapping[str, Rule]] = {
        "selected": rules.row,
        "sort": rules.order_of(),
        "page": rules.page,
        "search": rules.words,
    }
    filled: ClassVar[frozenset[str]] = frozenset({"selected"})

    columns = Field([], doc="The columns, in order.")
    rows = Field([], doc="Dicts: key of the column to the cell.")
    key = param.String("", doc="Column that names a row; empty: rows cannot be picked.")
    selected = Field(None, doc="Key of the marked row.")
    sort = Field(["", "desc"], doc="[column, asc or desc].")
    page = param.Integer(0, bounds=(0, None), doc="Page shown, from 0.")
    page_size = param.Integer(15, bounds=(1, None), doc="Rows of a page.")
    total = param.Integer(None, allow_None=True, doc="Set: Python pages, and rows are one page.")
    search = param.String("", doc="Only rows with these words.")
    searchable = param.Boolean(default=False, doc="Whether a search box is shown.")
    empty = param.String("Nothing to show.", doc="Shown in place of no rows.")
    download = param.String("", doc="File name: a button saves the rows as CSV, as shown.")
    pick = Event(rules.row, doc="A row was picked: its key.")


class Picture(Component):
    """An SVG picture; marks that link to ``#name=value`` can be picked by mouse and keyboard."""

    svg = param.String("", doc="The picture; scripts in it are removed.")
    alt = param.String("", doc="What the picture shows, for readers who cannot see it.")
    caption = param.String("", doc="Text under the picture.")
    download = param.String("", doc="File name without ending: buttons save SVG and PNG.")
    pick = Event(rules.link, doc="A mark was picked: {name: value} of its link.")


class Text(Component):
    """Paragraphs, lists ('- '), headings ('## '), ``**bold**`` and ```code``` as plain text."""

    text = param.String("", doc="The text; an empty line ends a paragraph.")
    tone: Any = param.Selector(
        default="plain", objects=["plain", "note", "warning"], doc="Its look."
    )


class StepSlider(Component):
    """A slider over a few named steps, such as fitted models."""

    sent: ClassVar[Mapping[str, Rule]] = {"selected": rules.place_in("options")}

    label = param.String("", doc="What is chosen.")
    options = Field([], doc="Dicts: label, and note for small print.")
    selected = param.Integer(0, bounds=(0, None), doc="Place of the chosen step, from 0.")


class TopicMap(Component):
    """Topics as circles, as far from each other as their words differ, and the topics of a term."""

    sent: ClassVar[Mapping[str, Rule]] = {
        "selected": rules.item,
        "other": rules.item_or_none,
        "term": rules.code_or_none,
    }

    items = Field([], doc="Dicts: id, name, label (with the id), x, y, share (None hides), empty.")
    selected = param.Integer(None, allow_None=True, doc="Id of the selected topic.")
    other = param.Integer(None, allow_None=True, doc="Id of the topic to compare with.")
    term = param.String("", doc="The term whose topics are shown.")
    spread = Field([], doc="Part of each topic in the term.")
    total = param.Integer(None, allow_None=True, doc="How often the term occurs.")
    shares_of = param.String(
        "words", doc="What the shares are shares of; empty: weights of the model."
    )
    unread = param.String("", doc="Names a model whose documents are still to be read.")
    seen = Event(rules.words, doc="The browser shows a model whose documents are still to be read.")
    download = param.String("topic-map", doc="File name without ending.")


class TermComparison(Component):
    """Two topics face to face, from the numbers of a `Relevance`."""

    sent: ClassVar[Mapping[str, Rule]] = {"first": rules.topic, "second": rules.topic}

    source = param.String("relevance", doc="Name of the component that holds the numbers.")
    first = param.Integer(None, allow_None=True, doc="Id of a topic.")
    second = param.Integer(None, allow_None=True, doc="Id of the topic to compare with.")
    top = param.Integer(12, bounds=(1, None), doc="Number of terms on each side.")
    pick = Event(rules.code, doc="A term was picked.")


class DocumentList(Component):
    """The documents that stand for a topic, with its words marked in their texts."""

    sent: ClassVar[Mapping[str, Rule]] = {"opened": rules.nothing}

    items = Field(
        {}, doc="Id of the topic to dicts: row, title, about, share, text, cut (there is more)."
    )
    marks = Field({}, doc="Id of the topic to words that are marked.")
    topic = param.Integer(None, allow_None=True, doc="Id of the topic that is shown.")
    opened = Field(None, doc="Row and whole text of one document.")
    hint = param.String("", doc="Shown where the documents of the topic are not known.")
    open = Event(rules.document, doc="The whole text of a row is wanted.")


class TreeOutline(Component):
    """A tree of nested clusters as indented rows: sizes, splits, a cut, and where a code lives."""

    # Only the rows in view are drawn. The numbers of codes are those of a `Relevance`, whose rows are `held`.

    sent: ClassVar[Mapping[str, Rule]] = {
        "selected": rules.place_in("children"),
        "row": rules.node_row,
        "opened": rules.places_in("children"),
        "frontier": rules.frontier,
        "code": rules.words,
    }
    filled: ClassVar[frozenset[str]] = frozenset({"row"})

    children = Field([], doc="Nodes to lists of their parts; 0: root.")
    sizes = Field([], doc="Rows of each node, or text such as '<11'.")
    weights = Field([], doc="Share of each node; None hides.")
    hints = Field([], doc="Words that stand for nodes without a name.")
    names = Field({}, doc="Number of a node to its name.")
    strength = Field([], doc="How clear each split is, 0 to 1, or None.")
    support = Field([], doc="How well it reappears, up to 1, or None.")
    reasons = Field([], doc="Why leaves are leaves: different texts.")
    why = Field([], doc="Place in `reasons` for each node, or None.")
    row_name = param.String("patients", doc="What is counted.")
    column_name = param.String("code", doc="What is searched for.")
    source = param.String("relevance", doc="Name of the component that holds codes and numbers.")
    held = Field(None, doc="Nodes that the rows of the source stand for; None: all.")
    row = param.Integer(None, allow_None=True, doc="Row of the source that shows `selected`.")
    selected = param.Integer(0, allow_None=True, doc="Number of the node that is picked.")
    opened = Field([], doc="Nodes whose parts are shown.")
    frontier = Field([], doc="Nodes of the cut, from left to right.")
    code = param.String("", doc="The code whose branches are shown.")
    found = Field({}, doc="code, and n: how often each node has it.")
    cut = Event(rules.cut, doc="The cut is to change: {level}, {prune: node} or {split: node}.")


class Breadcrumb(Component):
    """The way from the root of a `TreeOutline` to the node that is picked, and what is known of it."""

    source = param.String("tree", doc="Name of the tree.")


class SplitContrast(Component):
    """What tells the two parts of a node of a `TreeOutline` apart, from the numbers of a `Relevance`."""

    source = param.String("tree", doc="Name of the tree.")
    top = param.Integer(10, bounds=(1, None), doc="Number of codes on each side.")
    pick = Event(rules.code, doc="A code was picked.")


class PhenotypeCards(Component):
    """Phenotypes as cards: scores of features by mode, patients at each score, name, note and mark."""

    sent: ClassVar[Mapping[str, Rule]] = {
        "selected": rules.item,
        "other": rules.item_or_none,
        "sort": rules.one_of("id", "share", "weight", "size", "name"),
        "show": rules.one_of("all", "yes", "no", "open"),
        "search": rules.words,
    }

    items = Field(
        [],
        doc="Dicts: id, hint, weight, size, features (for each mode pairs of place and score), counts (patients at "
        "each level, or text such as '<11'), n_with_score, share (None hides), alike (pairs of id and cosine).",
    )
    modes = Field([], doc="Dicts: name, codes, titles, low, high.")
    levels = Field([], doc="Scores that patients can have, ascending.")
    annotations = Field({}, doc="Id to name, note, mark (yes or no), by, on.")
    both = Field([], doc="Patients with two phenotypes; None hides.")
    likeness = Field([], doc="Cosine of every phenotype with every other.")
    total = Field(None, doc="Number of patients, or text such as '<11'.")
    row_name = param.String("patients", doc="What is counted.")
    selected = param.Integer(None, allow_None=True, doc="Id of the phenotype that is picked.")
    other = param.Integer(None, allow_None=True, doc="Id of the phenotype to compare it with.")
    sort = param.String("id", doc="Order: id, share, weight, size or name.")
    show = param.String("all", doc="Marks that are shown: all, yes, no or open.")
    search = param.String("", doc="Only cards that have every one of these words.")
    edit = Event(rules.edit, doc="An annotation is edited: {id, field, value}.")


class PhenotypePair(Component):
    """Two phenotypes side by side, from the cards of a `PhenotypeCards`."""

    source = param.String("cards", doc="Name of the component that holds the cards.")


class Covariates(Component):
    """Clusters of covariates at one ν: what they speak for, how strongly, and where a covariate is."""

    sent: ClassVar[Mapping[str, Rule]] = {
        "selected": rules.covariate_cluster,
        "covariate": rules.place_in("names", or_none=True),
        "sort": rules.order_of("cluster", "size", "speaks", "odds", "names"),
        "page": rules.cluster_page,
    }

    names = Field([], doc="What covariates are called.")
    classes = Field([], doc="Names of the classes.")
    labels = param.Bytes(b"", doc="int32, one per covariate: number of its cluster.")
    weights = param.Bytes(b"", doc="float32, classes x clusters: weight of each cluster.")
    alone = param.Bytes(b"", doc="float32, classes x covariates: weights at the smallest ν.")
    selected = param.Integer(None, allow_None=True, doc="Number of the cluster that is picked.")
    covariate = param.Integer(None, allow_None=True, doc="Place of the covariate that was found.")
    sort = Field(["odds", "desc"], doc="[column, asc or desc].")
    page = param.Integer(0, bounds=(0, None), doc="Page shown, from 0.")
    page_size = param.Integer(12, bounds=(1, None), doc="Rows of a page.")
    step = param.Integer(0, doc="Place of the solution; a saved page looks pictures up by it.")
    shown = param.String("", doc="In a saved page: 'step:cluster', when one is picked.")


class CovariateCluster(Component):
    """The cluster that is picked in a `Covariates`: its weights by class, and its covariates."""

    source = param.String("clusters", doc="Name of the component that holds the clusters.")
    least_nu = param.String("", doc="The smallest ν, at which covariates are weighed one by one.")


class TensorSlices(Component):
    """A slice of the clusters' means or discriminants; which one is chosen in the browser."""

    sent: ClassVar[Mapping[str, Rule]] = {
        "cluster": rules.place_in("clusters"),
        "show": rules.one_of("mean", "difference", "discriminant"),
        "rows": rules.place_in("modes"),
        "columns": rules.place_in("modes"),
        "scale": rules.one_of("all", "slice", "row"),
        "outlined": rules.flag,
        "at": rules.slice_at,
        "entry": rules.entry,
    }

    modes = Field([], doc="Dicts: name, labels (one for each place).")
    clusters = Field([], doc="Names of the clusters.")
    means = param.Bytes(b"", doc="float32, clusters x entries, last mode fastest; NaN hides.")
    discriminants = param.Bytes(b"", doc="float32, clusters but the first x entries; NaN hides.")
    selected = param.Bytes(b"", doc="uint8, one per entry: whether it is selected.")
    hidden = Field([], doc="Clusters that are not shown.")
    cluster = param.Integer(0, allow_None=True, doc="Cluster that is shown.")
    show = param.String("mean", doc="mean, difference (from cluster 0) or discriminant.")
    rows = param.Integer(0, doc="Mode that runs down.")
    columns = param.Integer(1, doc="Mode that runs across.")
    at = Field([], doc="For each mode the place of the slice.")
    scale = param.String("all", doc="Values of full color: all, slice or row.")
    outlined = param.Boolean(default=True, doc="Whether selected entries are outlined.")
    entry = param.Integer(None, allow_None=True, doc="Entry that is picked.")


WIDGETS = {kind.kind: kind for kind in Component.__subclasses__() if kind is not Shell}
