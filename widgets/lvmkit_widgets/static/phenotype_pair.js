// Two phenotypes side by side: the features they share, and those that only one of them has.

const PHENO_PIPS = 10; // of a larger largest score a bar is drawn

// A score drawn as levels: as many full ones as its size, of as many as there can be; the number stands beside.
function phenoPips(score, mode) {
  const most = Math.max(mode.high, -mode.low, Math.abs(score));
  const size = Math.abs(score);
  const kind = score < 0 ? ".lvm-minus" : "";
  if (most > PHENO_PIPS) {
    const fill = h("i");
    fill.style.width = `${(100 * size) / most}%`;
    return h(`span.lvm-pips.lvm-pipbar${kind}`, { "aria-hidden": "true" }, fill);
  }
  const marks = Array.from({ length: most }, (_, k) => h(k < size ? "i.lvm-full" : "i"));
  return h(`span.lvm-pips${kind}`, { "aria-hidden": "true" }, marks);
}

function phenoScore(score, mode) {
  const most = score < 0 ? mode.low : mode.high;
  return h("b.lvm-score", { "aria-label": `score ${score} of ${most}`, text: integer(score) });
}

// Title first; the code beside it where both are known.
function phenoFeature(mode, j, hit) {
  const [code, title] = [mode.codes[j], mode.titles[j]];
  const text = title || code;
  const name = h("span.lvm-featname", { title: title ? `${code} ${title}` : code }, hit ? h("mark", { text }) : text);
  if (title) name.append(" ", h("small", { text: code }));
  return name;
}

function phenoCount(n) {
  return typeof n === "number" ? integer(n) : String(n ?? "–");
}

function phenoShare(share) {
  if (share === null || share === undefined) return "";
  return percent(share, share > 0 && share < 0.0995 ? 1 : 0);
}

const PHENO_STILL = ["items", "modes", "levels", "row_name", "total", "both", "likeness"];
const PHENO_MOVING = ["annotations", "selected", "other"];

// What all cards show. Hosts take long to hand out a large field, so that each is read only when it has changed.
function phenoBoard(part) {
  const board = {};
  const read = (fields) => fields.forEach((field) => (board[field] = part.get(field)));
  board.follow = () => read(PHENO_MOVING);
  board.read = () => {
    read([...PHENO_STILL, ...PHENO_MOVING]);
    board.place = new Map(board.items.map((item) => [item.id, item]));
    board.lower = board.modes.map(({ codes, titles }) => codes.map((code, j) => `${code} ${titles[j]}`.toLowerCase()));
  };
  board.annotationOf = (id) => board.annotations[String(id)] ?? {};
  board.called = (item) => board.annotationOf(item.id).name || (item.hint ? `(${item.hint})` : "");
  board.label = (item) => [String(item.id), board.called(item)].filter(Boolean).join(" · ");
  board.has = (item, word) => {
    const { name = "", note = "" } = board.annotationOf(item.id);
    if (`${item.id} ${name} ${note}`.toLowerCase().includes(word)) return true;
    return item.features.some((pairs, m) => pairs.some(([j]) => board.lower[m][j].includes(word)));
  };
  board.people = (item) => {
    if (item.n_with_score === null) return "";
    if (item.share === null) return `share of ${board.row_name} hidden`;
    return `${phenoShare(item.share)} of ${board.row_name} (${phenoCount(item.n_with_score)})`;
  };
  board.read();
  return board;
}

function phenoFacts(board, item) {
  const weight = h("span", { title: "λ: the counts expected are λ times the patient's score times those of the features" });
  weight.append(h("b", { text: `λ ${integer(item.weight)}` }), " weight: scales counts");
  const people = board.people(item);
  return h("p.lvm-facts", {}, people ? h("span", {}, h("b", { text: people })) : null, weight);
}

function phenoCosine(first, second) {
  const mine = new Map(first);
  const length = (pairs) => Math.sqrt(pairs.reduce((sum, [, score]) => sum + score * score, 0));
  const dot = second.reduce((sum, [j, score]) => sum + score * (mine.get(j) ?? 0), 0);
  return dot / Math.max(length(first) * length(second), 1e-12);
}

function phenotype_pair(part, el) {
  const source = part.peer(part.get("source"));
  const board = phenoBoard(source);
  const title = h("h3", { text: "Two phenotypes side by side" });
  const close = h("button.quiet", { type: "button", text: "Close", onclick: () => source.set({ other: null }) });
  const summary = h("p");
  const header = h("tr");
  const body = h("tbody");
  const grid = h("table.lvm-grid", {}, h("thead", {}, header), body);
  el.append(h("div.lvm-head", {}, title, close), summary, h("div.lvm-scroll", {}, grid));

  function which(field, item) {
    const select = h(
      "select",
      { "aria-label": field === "selected" ? "First phenotype" : "Second phenotype" },
      board.items.map((other) => h("option", { value: String(other.id), text: board.label(other) })),
    );
    select.value = String(item.id);
    select.addEventListener("change", () => source.set({ [field]: Number(select.value) }));
    return h("th", { scope: "col" }, select, phenoFacts(board, item));
  }
  function cell(score, mode) {
    if (score === undefined) return h("td.lvm-none", { text: "–" });
    return h("td", {}, h("span.lvm-scored", {}, phenoPips(score, mode), phenoScore(score, mode)));
  }
  const kind = (mode) => (board.modes.length > 1 ? h("small.lvm-hint", { text: ` · ${mode.name}` }) : null);
  function block(text, rows) {
    if (!rows.length) return [];
    const heading = h("tr", {}, h("th.lvm-part", { colspan: 3, scope: "rowgroup", text: `${text} (${rows.length})` }));
    return [heading, ...rows.map(([mode, j, x, y]) => h("tr", {}, h("td.lvm-cell-text", {}, phenoFeature(mode, j, false), kind(mode)), cell(x, mode), cell(y, mode)))];
  }
  function draw() {
    const first = board.place.get(board.selected);
    const second = board.place.get(board.other);
    const live = Boolean(first && second && first !== second);
    el.parentElement?.toggleAttribute("data-closed", !live);
    if (!live) return;
    const rows = first.features.flatMap((pairs, m) => {
      const [mine, yours] = [new Map(pairs), new Map(second.features[m])];
      const every = [...new Set([...mine.keys(), ...yours.keys()])];
      return every.map((j) => [board.modes[m], j, mine.get(j), yours.get(j)]);
    });
    const shared = rows.filter(([, , x, y]) => x !== undefined && y !== undefined);
    const left = rows.filter(([, , , y]) => y === undefined);
    const right = rows.filter(([, , x]) => x === undefined);
    header.replaceChildren(h("th", { scope: "col", text: "Feature" }), which("selected", first), which("other", second));
    body.replaceChildren(...block("In both", shared), ...block(`Only in ${first.id}`, left), ...block(`Only in ${second.id}`, right));
    grid.setAttribute("aria-label", `Phenotypes ${first.id} and ${second.id}`);
    const both = board.both[first.id]?.[second.id];
    const people = both === undefined || both === null ? "" : ` ${integer(both)} ${board.row_name} have both.`;
    const same = shared.filter(([, , x, y]) => x === y).length;
    const shares = `${shared.length} shared ${shared.length === 1 ? "feature" : "features"}${shared.length ? `, ${same} with the same score` : ""}`;
    const modes = board.modes.map((mode, m) => `${mode.name} ${fixed(phenoCosine(first.features[m], second.features[m]), 2)}`);
    const together = fixed(board.likeness[first.id][second.id], 2);
    const like = modes.length > 1 ? `${modes.join(", ")}, together ${together}` : together;
    setText(summary, `${shares}. Likeness (cosine of the scores, 1: the same): ${like}.${people}`);
  }
  source.on(PHENO_STILL, () => {
    board.read();
    draw();
  });
  source.on(PHENO_MOVING, () => {
    board.follow();
    draw();
  }, { now: false });
}
