// Phenotypes as cards: features with their scores by mode, patients at each score, name, note and mark.
// Sorting, searching, comparing and printing happen here, so that a saved page has them too.

const PHENO_FIRST = 8; // features of a card until all are asked for
const PHENO_MARKS = { yes: ["✓", "Meaningful"], no: ["✗", "Not meaningful"], "": ["?", "Undecided"] };
const PHENO_SORTS = {
  id: ["Number", 1, (item) => item.id],
  share: ["Share of patients", -1, (item) => item.share],
  weight: ["Weight λ", -1, (item) => item.weight],
  size: ["Number of features", -1, (item) => item.size],
  name: ["Name", 1, null],
};

// The features of a card: all of them, or the first of each mode and whatever is searched for.
function phenoFeatures(board, item, { all, words = [] }) {
  const parts = [];
  let left = 0;
  const many = board.modes.length > 1;
  const room = Math.max(3, Math.floor(PHENO_FIRST / board.modes.length));
  item.features.forEach((pairs, m) => {
    const mode = board.modes[m];
    const hits = (j) => words.some((word) => board.lower[m][j].includes(word));
    const shown = pairs.filter(([j], k) => all || k < room || hits(j));
    left += pairs.length - shown.length;
    if (many) parts.push(h("h5", { text: mode.name }));
    const lines = shown.map(([j, score]) => h("li", {}, phenoFeature(mode, j, hits(j)), phenoPips(score, mode), phenoScore(score, mode)));
    parts.push(pairs.length ? h("ul.lvm-feats", {}, lines) : h("p.lvm-hint", { text: "none" }));
  });
  return { parts, left };
}

// Scores in a row that nobody has share a line.
function phenoStretches(board, item) {
  const found = [];
  board.levels.forEach((score, k) => {
    const n = item.counts[k];
    const last = found.at(-1);
    if (n === 0 && last?.n === 0) last.to = score;
    else found.push({ from: score, to: score, n });
  });
  return found;
}

// Patients at each score, of all patients.
function phenoLevels(board, item) {
  if (!item.counts.length) return [];
  const rows = phenoStretches(board, item).map(({ from, to, n }) => {
    const score = from === to ? integer(from) : `${integer(from)} to ${integer(to)}`;
    const share = typeof n === "number" && typeof board.total === "number" && board.total ? n / board.total : null;
    const fill = h(from === 0 ? "i.lvm-zero" : "i");
    fill.style.width = `${100 * (share ?? 0)}%`;
    const known = share === null ? "" : `, ${phenoShare(share)}`;
    return h(
      "li",
      { "aria-label": `score ${score}: ${phenoCount(n)} ${board.row_name}${known}` },
      h("b", { text: score }),
      h("span.lvm-levelbar", { "aria-hidden": "true" }, fill),
      h("span", { text: share === null ? phenoCount(n) : phenoShare(share) }),
      h("span", { text: share === null ? "" : phenoCount(n) }),
    );
  });
  const rowName = board.row_name[0].toUpperCase() + board.row_name.slice(1);
  return [h("h5", { text: `${rowName} at each score` }), h("ul.lvm-levels", {}, rows)];
}

function phenoMark({ mark = "", by = "", on = "" }) {
  const [sign, text] = PHENO_MARKS[mark];
  const who = [by && `by ${by}`, on].filter(Boolean).join(", ");
  return h(`span.lvm-verdict.lvm-verdict-${mark || "open"}`, { title: who }, h("span", { "aria-hidden": "true", text: `${sign} ` }), who ? `${text} · ${who}` : text);
}

// One page for each card, by the browser's own print dialog. The pages stand in a sheet of their own,
// which only the printer sees, because hosts put much around a dashboard.
function phenoPrint(part, board, items) {
  const stage = part.peer("stage");
  const sheet = h("div.lvm", { style: "--ink:#111;--muted:#444;--surface:#fff;--accent:#0072b2;max-width:none" });
  sheet.append(
    ...items.map((item) => {
      const annotation = board.annotationOf(item.id);
      return h(
        "section.lvm-pheno.lvm-page",
        {},
        h("h2", { text: board.label(item) }),
        h("p.lvm-hint", { text: [stage.get("title"), stage.get("subtitle")].filter(Boolean).join(" · ") }),
        phenoFacts(board, item),
        h("p", {}, phenoMark(annotation)),
        annotation.note ? h("p.lvm-note", { text: annotation.note }) : null,
        phenoFeatures(board, item, { all: true }).parts,
        phenoLevels(board, item),
        h("p.lvm-footer", { text: stage.get("footer") ?? "" }),
      );
    }),
  );
  const rules = `@media screen { .lvm-printing { display: none; } }
    @media print {
      html, body { height: auto !important; overflow: visible !important; position: static !important; background: #fff !important; }
      body > *:not(.lvm-printing) { display: none !important; }
      .lvm-printing .lvm-page { break-after: page; }
      .lvm-printing .lvm-page:last-child { break-after: auto; }
    }`;
  const host = h("div.lvm-printing", {}, h("style", { text: STYLE + rules }), sheet);
  document.body.append(host);
  return () => host.remove();
}

// One card; what can be said of it is offered while it is the one that is picked.
function phenoCard(part, board, id, act) {
  const head = h("header");
  const body = h("div.lvm-phenobody");
  const talk = h("div.lvm-talk");
  const el = h("article.lvm-pheno", { role: "listitem", "data-id": id, tabindex: "-1" }, head, body, talk);
  let all = false;
  let editor = null;

  let drawn = null; // the words that the body shows
  const title = h("h4");
  const compare = h("button.lvm-versusbutton", { type: "button", tabindex: "-1", text: "⇄", onclick: () => act.compare(board.other === id ? null : id) });
  head.append(title, compare);

  const item = () => board.place.get(id);
  const chosen = () => board.selected === id;
  const stop = () => (chosen() ? "0" : "-1");

  function drawHead() {
    const mine = item();
    const { name, mark = "" } = board.annotationOf(id);
    title.replaceChildren(h("span.lvm-badge", { text: String(id) }), h(name ? "span" : "span.lvm-unnamed", { text: name || mine.hint || "no features" }));
    el.setAttribute("aria-label", [`Phenotype ${id}`, board.called(mine), board.people(mine), PHENO_MARKS[mark][1]].filter(Boolean).join(", "));
  }
  function drawPlace() {
    const pair = board.other === id;
    const label = pair ? "Compared; take away" : `Compare with ${board.selected}`;
    compare.hidden = chosen() || board.selected === null;
    for (const name of ["title", "aria-label"]) setAttribute(compare, name, label);
    setAttribute(compare, "aria-pressed", String(pair));
    el.classList.toggle("lvm-on", chosen());
    el.classList.toggle("lvm-also", pair);
    setAttribute(el, "aria-current", chosen() ? "true" : null);
    for (const button of body.querySelectorAll("button")) button.tabIndex = chosen() ? 0 : -1;
  }
  function drawBody() {
    const mine = item();
    const words = act.words();
    drawn = words.join(" ");
    const { parts, left } = phenoFeatures(board, mine, { all, words });
    const more = h("button.quiet", {
      type: "button",
      tabindex: stop(),
      "aria-expanded": String(all),
      text: all ? "Show fewer" : `Show all ${mine.size}`,
      onclick() {
        all = !all;
        drawBody();
        body.querySelector("button[aria-expanded]")?.focus();
      },
    });
    const near = mine.alike.map(([other, cosine]) => `${board.label(board.place.get(other))} (${fixed(cosine, 2)})`);
    body.replaceChildren(
      phenoFacts(board, mine),
      ...parts,
      left || all ? more : "",
      ...phenoLevels(board, mine),
      near.length ? h("p.lvm-warn", { text: `Nearly the same as ${near.join(", ")}: perhaps too many phenotypes.` }) : "",
    );
  }
  function write(field, value) {
    if (value !== (board.annotationOf(id)[field] ?? "")) part.fire("edit", { id, field, value });
  }
  function makeEditor() {
    const name = h("input", { id: uid("name"), type: "text", spellcheck: "false", onchange: () => write("name", name.value) });
    const note = h("textarea", { id: uid("note"), rows: "2", onchange: () => write("note", note.value) });
    const marks = h("div.lvm-marking", { role: "radiogroup", "aria-label": `Is phenotype ${id} meaningful?` });
    const buttons = Object.entries(PHENO_MARKS).map(([mark, [sign, text]]) =>
      h("button", { type: "button", role: "radio", "data-mark": mark, text: `${sign} ${text}`, onclick: () => write("mark", mark) }),
    );
    marks.append(...buttons);
    const settle = roving(marks, () => buttons);
    const who = h("p.lvm-hint");
    const box = [h("label", { for: name.id, text: "Name" }), name, h("label", { for: note.id, text: "Note" }), note, marks, who];
    const root = () => el.getRootNode().activeElement;
    const show = () => {
      const annotation = board.annotationOf(id);
      if (root() !== name) name.value = annotation.name ?? "";
      if (root() !== note) note.value = annotation.note ?? "";
      name.placeholder = item().hint || "no features";
      for (const button of buttons) button.setAttribute("aria-checked", String(button.dataset.mark === (annotation.mark ?? "")));
      settle(buttons.find((button) => button.ariaChecked === "true"));
      setText(who, annotation.mark ? [annotation.by && `Marked by ${annotation.by}`, annotation.on].filter(Boolean).join(", ") : "");
      who.hidden = !who.textContent;
    };
    return { box, show };
  }
  function drawTalk() {
    const annotation = board.annotationOf(id);
    if (chosen() && !part.saved) {
      if (!editor) {
        editor = makeEditor();
        talk.replaceChildren(...editor.box);
      }
      editor.show();
      return;
    }
    editor = null;
    talk.replaceChildren(annotation.note ? h("p.lvm-note", { text: annotation.note }) : "", annotation.mark ? phenoMark(annotation) : "");
  }
  // After another pick: nothing else has changed.
  function place() {
    drawPlace();
    if (chosen() !== Boolean(editor)) drawTalk();
  }
  function draw() {
    drawHead();
    drawBody();
    drawPlace();
    drawTalk();
  }
  function say() {
    drawHead();
    if (item().alike.length) drawBody();
    drawTalk();
  }
  // Bodies are drawn when they are seen.
  const show = () => drawn !== act.words().join(" ") && drawBody();
  el.addEventListener("click", (event) => {
    if (!event.target.closest("button, input, textarea, label")) act.pick(id);
  });
  el.addEventListener("keydown", (event) => {
    if (event.target !== el || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    act.pick(id);
    el.focus();
  });
  return { el, draw, place, say, show };
}

function phenotype_cards(part, el) {
  const choose = (label, options, field) => {
    const select = h("select", { id: uid(field) }, options.map(([value, text]) => h("option", { value, text })));
    select.addEventListener("change", () => part.set({ [field]: select.value }));
    return { select, box: h("span.lvm-find", {}, h("label", { for: select.id, text: label }), select) };
  };
  const sort = choose("Sort by", Object.entries(PHENO_SORTS).map(([key, [text]]) => [key, text]), "sort");
  const show = choose("Show", [["all", "All marks"], ...Object.entries(PHENO_MARKS).map(([key, [, text]]) => [key || "open", text])], "show");
  const search = h("input", { id: uid("search"), type: "search", spellcheck: "false", placeholder: "code, title or name" });
  const find = h("span.lvm-find.lvm-findwide", {}, h("label", { for: search.id, text: "Find" }), search);
  const print = h("button", { type: "button", text: "Print", title: "One page for each card shown", onclick: printed });
  const told = h("p.lvm-hint", { role: "status" });
  const list = h("div.lvm-phenos", { role: "list" });
  el.append(h("div.lvm-controls", {}, find, sort.box, show.box, print), told, list);
  const board = phenoBoard(part);
  let cards = new Map();
  let shown = [];
  const columns = () => getComputedStyle(list).gridTemplateColumns.split(" ").length;
  const settle = roving(list, () => shown.map((id) => cards.get(id).el), { columns });
  const words = () => part.get("search").toLowerCase().split(/\s+/).filter(Boolean);
  const act = {
    words,
    pick(id) {
      if (board.selected === id) return;
      part.set({ selected: id, other: board.other === id ? null : board.other });
      part.announce(`Phenotype ${board.label(board.place.get(id))} picked`);
    },
    compare(id) {
      part.set({ other: id });
      if (id !== null) part.announce(`Comparing ${board.selected} with ${id}`);
    },
  };

  function chosen() {
    const asked = words();
    const wanted = part.get("show");
    const kept = board.items.filter((item) => {
      if (wanted !== "all" && (board.annotationOf(item.id).mark || "open") !== wanted) return false;
      return asked.every((word) => board.has(item, word));
    });
    const [, sign, value] = PHENO_SORTS[part.get("sort")] ?? PHENO_SORTS.id;
    const by = (a, b) => {
      if (!value) return board.called(a).replace(/^\(/, "\uffff(").localeCompare(board.called(b).replace(/^\(/, "\uffff("), "en");
      const [x, y] = [value(a) ?? -1, value(b) ?? -1];
      return sign * (x - y);
    };
    return kept.sort((a, b) => by(a, b) || a.id - b.id);
  }
  function arrange() {
    shown = chosen().map((item) => item.id);
    for (const id of shown) cards.get(id).show();
    const wanted = shown.map((id) => cards.get(id).el);
    const present = [...list.children];
    if (wanted.length !== present.length || wanted.some((card, k) => card !== present[k])) {
      const active = el.getRootNode().activeElement;
      list.replaceChildren(...wanted);
      if (list.contains(active)) active.focus();
    }
    settle(cards.get(board.selected)?.el);
    const all = board.items.length;
    const most = `${integer(all)} ${all === 1 ? "phenotype" : "phenotypes"}`;
    const few = shown.length === all ? most : `${integer(shown.length)} of ${most}`;
    const keys = part.saved || !shown.length ? "" : " Pick a card (arrow keys and Enter) to name and mark it.";
    const none = all && !shown.length ? " Nothing matches: empty “Find”, or show all marks." : "";
    setText(told, all ? `${few}.${none}${keys}` : "There is no phenotype.");
    print.disabled = !shown.length;
  }
  function printed() {
    const done = phenoPrint(part, board, shown.map((id) => board.place.get(id)));
    window.addEventListener("afterprint", done, { once: true });
    window.print();
  }
  // A saved page is printed as cards also by the browser's own command.
  let sheet = null;
  const before = () => {
    if (!document.querySelector(".lvm-printing")) sheet = phenoPrint(part, board, shown.map((id) => board.place.get(id)));
  };
  const after = () => {
    sheet?.();
    sheet = null;
  };
  if (part.saved) {
    window.addEventListener("beforeprint", before);
    window.addEventListener("afterprint", after);
  }

  part.on(PHENO_STILL, () => {
    board.read();
    cards = new Map(board.items.map((item) => [item.id, phenoCard(part, board, item.id, act)]));
    list.replaceChildren();
    for (const card of cards.values()) card.draw();
    arrange();
  });
  part.on(["selected", "other"], () => {
    board.follow();
    for (const card of cards.values()) card.place();
    settle(cards.get(board.selected)?.el);
  }, { now: false });
  part.on(["annotations"], () => {
    const before = board.annotations;
    board.follow();
    const changed = (id) => JSON.stringify(before[id]) !== JSON.stringify(board.annotations[id]);
    for (const [id, card] of cards) if (changed(id) || board.place.get(id).alike.length) card.say();
    arrange();
  }, { now: false });
  part.on(["sort", "show"], () => {
    sort.select.value = part.get("sort");
    show.select.value = part.get("show");
    arrange();
  });
  part.on(["search"], () => {
    if (search.value !== part.get("search")) search.value = part.get("search");
    arrange();
  });
  const rest = debounced(120, () => part.set({ search: search.value }));
  search.addEventListener("input", rest);
  return () => {
    window.removeEventListener("beforeprint", before);
    window.removeEventListener("afterprint", after);
  };
}
