// What tells the two parts of a node apart: more in the one, more in the other.

// How far two shares lie apart, in standard deviations; means above 1 count as Poisson.
function standardized(p, q) {
  const spread = (x) => (x > 1 ? x : x * (1 - x));
  const middle = (spread(p) + spread(q)) / 2;
  if (middle <= 0) return p === q ? 0 : Math.sign(p - q) * 10;
  return (p - q) / Math.sqrt(middle);
}

function split_contrast(part, el) {
  const source = part.peer(part.get("source"));
  const heads = h("div.lvm-pair");
  const header = h("tr");
  const body = h("tbody");
  const table = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const note = h("p.lvm-hint");
  el.append(heads, h("div.lvm-scroll", {}, table), note);
  const settle = roving(body, () => [...body.children]);
  let nodes = treeNodes(source);

  function row(code, title, shares, d, widest, turn) {
    const attributes = {
      "aria-selected": String(code === nodes.now.code),
      title: `Standardized difference ${fixed(Math.abs(d), 2)}`,
      digits: widest < 0.1 ? 2 : 0,
      turn,
    };
    const told = h("td", { title: title ? `${code} ${title}` : code }, h("b", { text: code }), title ? ` ${title}` : "");
    return facingRow(part, code, shares, widest, attributes, told);
  }
  function nothing(text) {
    body.replaceChildren();
    table.hidden = heads.hidden = true;
    setText(note, text);
  }
  function draw() {
    const i = nodes.read().selected;
    if (i === null || i >= nodes.shape.n) return nothing("Pick a branch.");
    const parts = nodes.shape.children[i];
    if (parts.length < 2) return nothing(`${nodes.full(i)} is a leaf, so it has no parts to compare. ${sentence(nodes.reason(i))}`);
    const rows = parts.map(nodes.rowOf);
    if (rows.includes(null)) return nothing(part.saved ? "The numbers of this split are not in this page." : "The numbers of this split are on their way …");
    const codes = nodes.source.get("codes");
    const titles = nodes.source.get("titles");
    const d = codes.length;
    const centers = asArray(nodes.source.get("centers"), Float32Array);
    const [p, q] = rows.map((j) => centers.subarray(j * d, (j + 1) * d));
    const apart = Float64Array.from(p, (x, j) => (Number.isNaN(x) || Number.isNaN(q[j]) ? 0 : standardized(x, q[j])));
    const every = [...apart.keys()];
    const top = part.get("top");
    const mine = largest(every.filter((j) => apart[j] > 0), apart, 1, top);
    const theirs = largest(every.filter((j) => apart[j] < 0), apart, -1, top);
    const shown = [...mine, ...theirs];
    const widest = Math.max(1e-9, ...shown.flatMap((j) => [p[j], q[j]]));
    table.hidden = heads.hidden = false;
    heads.replaceChildren(
      ...parts.map((j) => h("span", {}, h("i", { "aria-hidden": "true" }), h("button.quiet", { type: "button", text: `${nodes.full(j)}: ${nodes.size(j)}`, title: nodes.full(j), onclick: () => source.set({ selected: j, row: nodes.rowOf(j) }) }))),
    );
    const [left, right] = parts.map((j) => nodes.shape.labels[j]);
    const columnName = nodes.now.column_name;
    header.replaceChildren(...["", `in ${left}`, columnName[0].toUpperCase() + columnName.slice(1), `in ${right}`, ""].map((text) => h("th", { scope: "col", text })));
    body.replaceChildren(...shown.map((j, place) => row(codes[j], titles[j], [p[j], q[j]], apart[j], widest, place === mine.length && place > 0)));
    table.setAttribute("aria-label", `What tells ${left} from ${right}`);
    const hidden = p.reduce((n, x, j) => n + (Number.isNaN(x) || Number.isNaN(q[j]) ? 1 : 0), 0);
    const withheld = hidden ? ` ${integer(hidden)} of ${integer(d)} are hidden, so that no small count shows.` : "";
    setText(note, shown.length ? `Above the line: more frequent in ${left}; below: in ${right}. The clearest differences first.${withheld}` : `No ${columnName} that may be shown tells them apart.${withheld}`);
    settle(null);
  }

  source.on(["children"], () => {
    nodes = treeNodes(source);
    draw();
  });
  source.on(["selected", "held", "code", "names", "hints", "sizes", "reasons", "why"], draw, { now: false });
  nodes.source.on(["centers", "codes"], draw, { now: false });
  part.on(["top"], draw, { now: false });
}
