// A tree of nested clusters as indented rows; only those in view are drawn, so thousands are fine.

const TREE_ROW = 30; // pixels
const TREE_EXTRA = 6; // rows drawn above and below the view
const TREE_INDENTS = 12; // levels that are indented; deeper ones stand below each other
const TREE_REVEALED = 200; // clusters that a cut opens the tree for, at most
const TREE_PART = 0.2; // of all with a code: a branch that holds so many is opened by a search

function tree_outline(part, el) {
  const findId = uid("find");
  const levelId = uid("level");
  const find = h("input", { id: findId, type: "search", spellcheck: "false" });
  const { host, close } = proposals(find, choices, taken);
  const clear = h("button.quiet", { type: "button", text: "Clear", onclick: () => mark("") });
  const level = h("input", { id: levelId, type: "range", min: 0, step: 1 });
  const output = h("output", { for: levelId });
  const tool = (text, act) => h("button.quiet", { type: "button", text, onclick: act });
  const prune = tool("Make this one cluster", () => change({ prune: part.get("selected") }));
  const grow = tool("Split this cluster", () => change({ split: part.get("selected") }));
  const tools = h(
    "div.lvm-tools",
    {},
    prune,
    grow,
    tool("Show clusters", () => open(ancestors(part.get("frontier")))),
    tool("Open all", () => open(nodes.shape.children.flatMap((parts, i) => (parts.length ? [i] : [])))),
    tool("Close all", () => open([])),
  );
  const heads = h("div.lvm-treehead", { "aria-hidden": "true" });
  const sheet = h("div.lvm-treesheet", { role: "presentation" });
  const box = h("div.lvm-treebox", { role: "tree", tabindex: 0, "aria-label": "Branches" }, sheet);
  const told = h("p.lvm-readout");
  const note = h("p.lvm-hint");
  const cutting = h("span.lvm-balance", {}, h("label", { for: levelId, text: "Cut at level" }), level, output);
  const search = h("span.lvm-find", {}, h("label", { for: findId, text: "Find" }), host, clear);
  el.append(h("div.lvm-controls", {}, search, cutting), tools, told, heads, box, note);
  const stem = uid("node");
  let nodes = treeNodes(part);
  let opened = new Set();
  let rows = []; // nodes whose ancestors are all open, from top to bottom
  let at = new Map(); // node to its place among them
  let active = 0;
  let cluster = new Map(); // node of the cut to its number
  let under = new Set(); // nodes below the cut
  let nWithCode = null;
  let sums = false; // whether what is searched is counted by occurrences
  let seen = 0; // height of the box; reading it at every draw would make the browser lay out twice

  const ancestors = (list) => {
    const all = new Set();
    for (const i of list) for (let j = nodes.shape.parent[i]; j >= 0 && !all.has(j); j = nodes.shape.parent[j]) all.add(j);
    return [...all];
  };
  const open = (list) => part.set({ opened: list });
  const toggle = (i, wide) => {
    if (!nodes.shape.children[i].length || opened.has(i) === wide) return false;
    open(wide ? [...opened, i] : [...opened].filter((j) => j !== i));
    return true;
  };

  // -- picking, cutting, searching ---------------------------------------------------------------

  function pick(i) {
    active = i;
    part.set({ selected: i, row: nodes.rowOf(i) });
    part.announce(`${nodes.full(i)} picked, ${nodes.size(i)} ${part.get("row_name")}`);
  }
  // The same cut as Python makes, at once; Python takes the step.
  function change(asked) {
    const { shape } = nodes;
    const frontier = shape.cut(part.get("frontier"), asked);
    const opening = {};
    if (asked.level !== undefined && frontier.length <= TREE_REVEALED) opening.opened = ancestors(frontier);
    if (asked.prune !== undefined) opening.opened = [...opened].filter((i) => !shape.within(i, asked.prune));
    part.fire("cut", asked, { frontier, ...opening });
    part.announce(`${frontier.length} clusters`);
  }
  function choices() {
    const titles = nodes.source.get("titles");
    const codes = nodes.source.get("codes").map((code, j) => ({ value: code, label: titles[j] || code }));
    const named = Object.entries(part.get("names")).map(([i, name]) => ({ value: `branch ${nodes.shape.labels[i]}`, label: name, node: Number(i) }));
    return [...named, ...codes];
  }
  function taken(value) {
    const branch = choices().find((choice) => choice.value === value && choice.node !== undefined);
    if (branch) {
      find.value = "";
      pick(branch.node);
    } else mark(value);
  }
  function mark(code) {
    find.value = code;
    part.set({ code });
    if (code) part.announce(told.textContent);
  }
  // Open every branch that holds much of what the code occurs.
  function follow() {
    if (!nWithCode) return;
    const total = nWithCode(0);
    if (!total) return;
    const much = [];
    const waiting = nodes.shape.n ? [0] : [];
    while (waiting.length) {
      const i = waiting.pop();
      const n = nWithCode(i);
      if (!nodes.shape.children[i].length || (n !== null && n < TREE_PART * total)) continue;
      if (n === null && !opened.has(i)) continue;
      much.push(i);
      waiting.push(...nodes.shape.children[i]);
    }
    if (much.some((i) => !opened.has(i))) open([...new Set([...opened, ...much])]);
  }

  // -- drawing -----------------------------------------------------------------------------------

  function arrange() {
    opened = new Set(part.get("opened"));
    rows = [];
    const waiting = nodes.shape.n ? [0] : [];
    while (waiting.length) {
      const i = waiting.pop();
      rows.push(i);
      if (opened.has(i)) waiting.push(...[...nodes.shape.children[i]].reverse());
    }
    at = new Map(rows.map((i, k) => [i, k]));
    while (!at.has(active) && nodes.shape.parent[active] >= 0) active = nodes.shape.parent[active];
    sheet.style.height = `${rows.length * TREE_ROW}px`;
    box.style.setProperty("--tall", `${rows.length * TREE_ROW + 2}px`);
  }
  // Lines from a node up to the node it is a part of; the clearer the split, the stronger.
  function edges(i) {
    const { parent, depth, children } = nodes.shape;
    const marks = [];
    const most = Math.min(depth[i], TREE_INDENTS);
    for (let j = i, k = 0; k < most; j = parent[j], k++) {
      const last = children[parent[j]].at(-1) === j;
      const line = h(`i${k === 0 ? ".lvm-elbow" : ".lvm-guide"}${last ? ".lvm-last" : ""}`);
      line.style.setProperty("--strong", `${1 + 3 * (nodes.now.strength[parent[j]] ?? 0)}px`);
      marks.push(line);
    }
    return marks.reverse();
  }
  function splitCell(i) {
    if (nWithCode) {
      const n = nWithCode(i);
      const whole = nodes.now.sizes[i];
      const row = nodes.rowOf(i);
      if (n === null) return h("span.lvm-treesplit", { text: "–", title: "Not shown" });
      const piece = n / whole;
      const value = sums ? integer(n) : typeof whole === "number" && whole ? percent(piece, piece > 0 && piece < 0.0995 ? 1 : 0) : "–";
      return h("span.lvm-treesplit.lvm-has", { text: value, title: row === null ? "" : `${integer(n)} with it` });
    }
    if (!nodes.shape.children[i].length) return h("span.lvm-treesplit.lvm-none", { text: "leaf", title: nodes.reason(i) });
    const [strength, support] = [nodes.now.strength[i], nodes.now.support[i]];
    const value = support ?? strength;
    if (value === null || value === undefined) return h("span.lvm-treesplit", { text: "–" });
    const fill = h("i");
    fill.style.width = `${100 * Math.max(0, Math.min(1, value))}%`;
    return h("span.lvm-treesplit", { title: splitText(strength, support) }, h("span.lvm-track", {}, fill), h("span", { text: fixed(value, 2) }));
  }
  function bar(i) {
    const track = h("span.lvm-treebar");
    const fill = (value, kind) => {
      const piece = h(`i.${kind}`);
      piece.style.width = `${100 * value}%`;
      track.append(piece);
    };
    fill(nodes.now.weights[i] ?? 0, nWithCode ? "lvm-all" : "lvm-in");
    if (nWithCode && nWithCode(i) !== null && nWithCode(0)) fill(nWithCode(i) / nWithCode(0), "lvm-with");
    return track;
  }
  function item(i, k) {
    const { shape } = nodes;
    const parts = shape.children[i];
    const number = cluster.get(i);
    const siblings = shape.parent[i] < 0 ? [i] : shape.children[shape.parent[i]];
    const name = nodes.now.names[i];
    const hint = nodes.now.hints[i];
    const label = [nodes.full(i), `${nodes.size(i)} ${nodes.now.row_name}`, nodes.share(i)];
    if (number !== undefined) label.push(`cluster ${number}`);
    if (!parts.length) label.push("leaf");
    const row = h(
      `div.lvm-node${number !== undefined ? ".lvm-cluster" : ""}${under.has(i) ? ".lvm-under" : ""}${i === active ? ".lvm-active" : ""}`,
      {
        role: "treeitem",
        id: `${stem}-${i}`,
        "data-id": i,
        "aria-level": shape.depth[i] + 1,
        "aria-setsize": siblings.length,
        "aria-posinset": siblings.indexOf(i) + 1,
        "aria-expanded": parts.length ? String(opened.has(i)) : null,
        "aria-selected": String(i === nodes.now.selected),
        "aria-label": label.filter(Boolean).join(", "),
      },
      h(
        "span.lvm-treename",
        {},
        edges(i),
        h("span.lvm-twist", { "aria-hidden": "true", text: parts.length ? (opened.has(i) ? "▾" : "▸") : "·" }),
        number === undefined ? null : h("span.lvm-badge", { text: String(number), title: `Cluster ${number} of the cut` }),
        h("b", { text: shape.labels[i] }),
        name ? h("span.lvm-treetext.lvm-named", { text: name, title: hint ? `${name} (${hint})` : name }) : h("span.lvm-treetext", { text: hint, title: hint }),
      ),
      splitCell(i),
      h("span.lvm-treesize", {}, h("span", { text: nodes.size(i) }), h("span", { text: nodes.share(i) })),
      bar(i),
    );
    row.style.top = `${k * TREE_ROW}px`;
    return row;
  }
  function draw() {
    const tall = seen || 480;
    const first = Math.max(0, Math.floor(box.scrollTop / TREE_ROW) - TREE_EXTRA);
    const last = Math.min(rows.length, Math.ceil((box.scrollTop + tall) / TREE_ROW) + TREE_EXTRA);
    const shown = [];
    for (let k = first; k < last; k++) shown.push(item(rows[k], k));
    sheet.replaceChildren(...shown);
    if (rows.length && at.has(active) && at.get(active) >= first && at.get(active) < last) box.setAttribute("aria-activedescendant", `${stem}-${active}`);
    else box.removeAttribute("aria-activedescendant");
  }
  function show(i) {
    const top = (at.get(i) ?? 0) * TREE_ROW;
    const tall = seen || 480;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + TREE_ROW > box.scrollTop + tall) box.scrollTop = top + TREE_ROW - tall;
  }
  function go(i) {
    active = i;
    show(i);
    draw();
  }
  function count() {
    const { children } = nodes.shape;
    cluster = new Map(nodes.now.frontier.map((i, k) => [i, k]));
    const waiting = nodes.now.frontier.flatMap((i) => children[i]);
    under = new Set();
    while (waiting.length) {
      const i = waiting.pop();
      under.add(i);
      waiting.push(...children[i]);
    }
  }
  function tell() {
    const { shape } = nodes;
    const rowName = nodes.now.row_name;
    const code = nodes.now.code;
    sums = Boolean(code) && asArray(nodes.source.get("totals"), Int32Array).length > 0;
    const frontier = nodes.now.frontier;
    const many = shape.n > 1;
    for (const piece of [heads, box, cutting, tools, search]) piece.hidden = !shape.n;
    cutting.hidden = tools.hidden = !many;
    clear.hidden = !code;
    level.max = shape.deepest;
    const now = frontier.reduce((most, j) => Math.max(most, shape.depth[j]), 0);
    const even = many && shape.atLevel(now).join() === frontier.join();
    if (even) level.value = now;
    const clusters = `${integer(frontier.length)} ${frontier.length === 1 ? "cluster" : "clusters"}`;
    setText(output, even ? `${now}: ${clusters}` : `by hand: ${clusters}`);
    level.setAttribute("aria-valuetext", output.textContent);
    const i = nodes.now.selected;
    const chosen = i !== null && i < shape.n;
    prune.disabled = !chosen || frontier.includes(i) || (!shape.children[i].length && !under.has(i));
    grow.disabled = !chosen || !shape.children[i].length || !(frontier.includes(i) || under.has(i));
    const total = nWithCode ? nWithCode(0) : null;
    told.hidden = !code;
    if (code) {
      const column = nodes.source.get("codes").indexOf(code);
      const title = column < 0 ? "" : nodes.source.get("titles")[column];
      const called = `${code}${title ? ` ${title}` : ""}`;
      if (!nWithCode) setText(told, column < 0 ? `No ${nodes.now.column_name} is called “${code}”.` : `Looking for ${called} …`);
      else if (total === null) setText(told, `${called}: too few ${rowName} to show.`);
      else setText(told, `${called}: ${integer(total)} ${sums ? "times" : rowName}. Orange: the part of them in a branch; gray: the part of all ${rowName}. Orange longer than gray: the branch has more of it.`);
    }
    heads.replaceChildren(
      h("span", { text: "Branch" }),
      h("span", { text: nWithCode ? `With ${code}` : "Split", title: nWithCode ? "" : "How clearly the two parts are set apart, or how well the split reappears on resampled rows: 1 is best" }),
      h("span", { text: rowName[0].toUpperCase() + rowName.slice(1) }),
      h("span", { text: nWithCode ? "Part of all" : "Share" }),
    );
    find.placeholder = `${nodes.now.column_name}, meaning or branch`;
    if (!shape.n) setText(note, "The tree is empty: nothing was fitted, so there is no branch to show.");
    else if (!many) setText(note, `One leaf that holds all ${rowName}: nothing was split. ${sentence(nodes.reason(0))}`);
    else setText(note, `${integer(rows.length)} of ${integer(shape.n)} branches shown. Up and Down move, Right opens, Left closes, Enter picks. Numbers in boxes: clusters of the cut.`);
  }
  function redraw() {
    nodes.read();
    tell();
    draw();
  }

  // -- the reader --------------------------------------------------------------------------------

  const nodeOf = (event) => event.target.closest?.(".lvm-node");
  box.addEventListener("mousedown", (event) => {
    const row = nodeOf(event);
    if (!row || event.button) return;
    event.preventDefault(); // the row is drawn anew before the mouse is up
    box.focus({ preventScroll: true });
    const i = Number(row.dataset.id);
    if (event.target.closest(".lvm-twist") && nodes.shape.children[i].length) {
      active = i;
      toggle(i, !opened.has(i));
    } else pick(i);
  });
  box.addEventListener("dblclick", (event) => {
    const row = nodeOf(event);
    if (row && !event.target.closest(".lvm-twist")) toggle(Number(row.dataset.id), !opened.has(Number(row.dataset.id)));
  });
  const page = () => Math.max(1, Math.floor((seen || 480) / TREE_ROW) - 1);
  const keys = {
    ArrowDown: (k) => go(rows[Math.min(rows.length - 1, k + 1)]),
    ArrowUp: (k) => go(rows[Math.max(0, k - 1)]),
    PageDown: (k) => go(rows[Math.min(rows.length - 1, k + page())]),
    PageUp: (k) => go(rows[Math.max(0, k - page())]),
    Home: () => go(rows[0]),
    End: () => go(rows[rows.length - 1]),
    ArrowRight: () => toggle(active, true) || (opened.has(active) && go(nodes.shape.children[active][0])),
    ArrowLeft: () => toggle(active, false) || (nodes.shape.parent[active] >= 0 && go(nodes.shape.parent[active])),
    Enter: () => pick(active),
    " ": () => pick(active),
    "*": () => open([...opened, ...(nodes.shape.children[nodes.shape.parent[active]] ?? [active]).filter((i) => nodes.shape.children[i].length && !opened.has(i))]),
  };
  box.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey || !rows.length) return;
    event.preventDefault();
    keys[event.key](at.get(active) ?? 0);
  });
  let drawing = 0;
  box.addEventListener("scroll", () => {
    cancelAnimationFrame(drawing);
    drawing = requestAnimationFrame(draw);
  });
  // What is typed: a code, words of its meaning, or the name of a branch; nothing ends the search.
  function look() {
    const text = find.value.trim();
    if (text === part.get("code")) return;
    const codes = nodes.source.get("codes");
    const exact = codes.find((code) => code.toLowerCase() === text.toLowerCase());
    const fits = matcher(text);
    const first = exact ?? (text ? choices().find(({ value, label }) => fits(`${value} ${label}`))?.value : "");
    if (first) taken(first);
    else mark(text);
  }
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    close();
    look();
  });
  for (const kind of ["change", "search"]) find.addEventListener(kind, look);
  const rest = debounced(120, () => change({ level: Number(level.value) }));
  level.addEventListener("input", () => {
    setText(output, `${level.value}: ${integer(nodes.shape.atLevel(Number(level.value)).length)} clusters`);
    rest();
  });
  const sized = new ResizeObserver(() => {
    if (box.clientHeight === seen) return;
    seen = box.clientHeight;
    draw();
  });
  sized.observe(box);

  // -- what changes ------------------------------------------------------------------------------

  part.on(["children", "source"], () => {
    nodes = treeNodes(part);
    active = part.get("selected") ?? 0;
    nWithCode = rowsWithCode(part, nodes);
    count();
    arrange();
    redraw();
  });
  part.on(["selected"], () => {
    nodes.read();
    const i = part.get("selected");
    if (i === null || i >= nodes.shape.n) return;
    if (part.get("row") !== nodes.rowOf(i)) part.set({ row: nodes.rowOf(i) });
    const hidden = ancestors([i]).filter((j) => !opened.has(j));
    if (active !== i || hidden.length) {
      active = i;
      if (hidden.length) {
        open([...opened, ...hidden]);
        arrange();
      }
      show(i);
    }
    redraw();
  }, { now: false });
  part.on(["opened"], () => {
    arrange();
    redraw();
  }, { now: false });
  part.on(["frontier"], () => {
    nodes.read();
    count();
    const wanted = part.get("frontier").length <= TREE_REVEALED ? ancestors(part.get("frontier")) : [];
    if (wanted.some((i) => !opened.has(i))) open([...new Set([...opened, ...wanted])]);
    redraw();
  }, { now: false });
  part.on(["code", "found"], () => {
    nodes.read();
    if (find.value !== nodes.now.code) find.value = nodes.now.code;
    nWithCode = rowsWithCode(part, nodes);
    follow();
    redraw();
  });
  nodes.source.on(["counts", "codes"], () => {
    nWithCode = rowsWithCode(part, nodes);
    redraw();
  }, { now: false });
  part.on(["sizes", "weights", "hints", "names", "strength", "support", "row_name", "reasons", "why", "held"], redraw, { now: false });
  requestAnimationFrame(() => show(active));
  return () => sized.disconnect();
}
