// The way from the root of a tree to the node that is picked, and what is known of it.

const TRAIL_STEPS = 7; // of a longer way the middle is left out

const TREE_DEEP = 10; // as in layout.py: below, a node is called by its number

// What follows from the parts of each node: places, depths, and the stretch of each branch.
function treeShape(children) {
  const n = children.length;
  const parent = new Int32Array(n).fill(-1);
  const depth = new Int32Array(n);
  const place = new Int32Array(n); // in depth-first order
  const end = new Int32Array(n);
  const labels = new Array(n).fill("");
  let count = 0;
  const stack = n ? [0] : [];
  while (stack.length) {
    const i = stack.pop();
    if (i < 0) {
      end[~i] = count;
      continue;
    }
    place[i] = count++;
    if (parent[i] < 0) labels[i] = "All";
    else {
      const turn = children[parent[i]].indexOf(i) + 1;
      const above = labels[parent[i]];
      labels[i] = depth[i] > TREE_DEEP ? `node ${i}` : above === "All" ? String(turn) : `${above}.${turn}`;
    }
    stack.push(~i);
    for (const child of [...children[i]].reverse()) {
      parent[child] = i;
      depth[child] = depth[i] + 1;
      stack.push(child);
    }
  }
  const deepest = depth.reduce((most, d) => Math.max(most, d), 0);
  const path = (i) => {
    const nodes = [];
    for (let j = i; j >= 0; j = parent[j]) nodes.push(j);
    return nodes.reverse();
  };
  const ordered = (nodes) => [...nodes].sort((a, b) => place[a] - place[b]);
  const within = (i, above) => place[i] >= place[above] && place[i] < end[above];
  const atLevel = (level) =>
    ordered(children.flatMap((parts, i) => (depth[i] === level || (depth[i] < level && !parts.length) ? [i] : [])));
  const opened = (frontier, node) => frontier.flatMap((i) => (i === node ? children[i] : [i]));
  // The cut that is asked for: at a level, with a node made one cluster, or with a node split.
  const cut = (frontier, { level, prune, split }) => {
    if (level !== undefined) return atLevel(level);
    const node = prune ?? split;
    const near = path(node).slice(0, -1).reduce(opened, frontier);
    return ordered(split === undefined ? [...near.filter((i) => !within(i, node)), node] : opened(near, node));
  };
  return { n, children, parent, depth, labels, deepest, path, within, atLevel, cut };
}

const TREE_FIELDS = [
  ...["sizes", "weights", "hints", "names", "strength", "support", "reasons", "why", "row_name", "column_name"],
  ...["held", "selected", "frontier", "code"],
];

// What a dashboard of a tree shows of a node, for every part that shows nodes. Hosts take long to hand out
// a field, so that all are read once before a drawing (`read`) and stand in `now`.
function treeNodes(tree) {
  const shape = treeShape(tree.get("children"));
  const source = tree.peer(tree.get("source"));
  const nodes = { shape, source, now: {}, places: null };
  nodes.read = () => {
    for (const field of TREE_FIELDS) nodes.now[field] = tree.get(field);
    nodes.places = nodes.now.held && new Map(nodes.now.held.map((i, row) => [i, row]));
    return nodes.now;
  };
  nodes.called = (i) => nodes.now.names[i] || (nodes.now.hints[i] ? `(${nodes.now.hints[i]})` : "");
  nodes.full = (i) => [shape.labels[i], nodes.called(i)].filter(Boolean).join(" · ");
  nodes.size = (i) => {
    const n = nodes.now.sizes[i];
    return typeof n === "number" ? integer(n) : String(n ?? "–");
  };
  nodes.share = (i) => {
    const w = nodes.now.weights[i];
    return w === null || w === undefined ? "" : percent(w, w >= 0.0995 || w === 0 ? 0 : 1);
  };
  nodes.reason = (i) => nodes.now.reasons[nodes.now.why[i]] ?? "";
  nodes.rowOf = (i) => (nodes.places ? (nodes.places.get(i) ?? null) : i);
  nodes.read();
  return nodes;
}

// How often each node has the code that is searched: from the numbers here, or what Python found.
function rowsWithCode(tree, nodes) {
  const code = tree.get("code");
  const found = tree.get("found");
  if (!code) return null;
  if (found.code === code) return (i) => found.n[i] ?? null;
  const column = nodes.source.get("codes").indexOf(code);
  if (column < 0) return null;
  const d = nodes.source.get("codes").length;
  const counts = asArray(nodes.source.get("counts"), Int32Array);
  return (i) => {
    const row = nodes.rowOf(i);
    const n = row === null ? -1 : counts[row * d + column];
    return n < 0 || n === undefined ? null : n;
  };
}

// A sentence about a split, with both of its measures where they are known.
function splitText(strength, support) {
  const told = [];
  if (typeof strength === "number") told.push(`strength ${fixed(strength, 2)}`);
  if (typeof support === "number") told.push(`reappears on resampled rows: ${fixed(support, 2)}`);
  return told.join("; ");
}

function sentence(text) {
  if (!text) return "";
  const whole = /^[a-z]+(\s|$)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

function breadcrumb(part, el) {
  const source = part.peer(part.get("source"));
  const list = h("ol");
  const facts = h("p");
  el.append(h("nav", { "aria-label": "Way to this branch" }, list), facts);
  let nodes = treeNodes(source);

  function step(i, current) {
    const name = nodes.called(i);
    const whole = [nodes.shape.labels[i], name].filter(Boolean).join(" · ");
    if (current) return h("li", {}, h("span", { "aria-current": "true", text: whole, title: whole }));
    const text = nodes.now.names[i] ? whole : nodes.shape.labels[i];
    return h("li", {}, h("button", { type: "button", text, title: whole, onclick: () => source.set({ selected: i, row: nodes.rowOf(i) }) }));
  }
  // Which clusters of the cut the node is, holds, or is a part of.
  function clusters(i) {
    const { shape } = nodes;
    const frontier = nodes.now.frontier;
    const own = frontier.indexOf(i);
    if (own >= 0) return `Cluster ${own} of the cut.`;
    const above = frontier.findIndex((j) => shape.within(i, j));
    if (above >= 0) return `A part of cluster ${above}.`;
    const inside = frontier.flatMap((j, k) => (shape.within(j, i) ? [k] : []));
    if (inside.length === frontier.length) return `All ${inside.length} clusters of the cut are in it.`;
    const named = inside.length > 6 ? `${inside[0]} to ${inside.at(-1)}` : inside.join(", ");
    return `Holds ${inside.length === 1 ? "cluster" : "clusters"} ${named}.`;
  }
  function told(i) {
    const { shape } = nodes;
    const share = nodes.share(i);
    const texts = [`${nodes.size(i)} ${nodes.now.row_name}${share ? `, ${share} of all` : ""}.`, clusters(i)];
    const parts = shape.children[i];
    if (!parts.length) texts.push(`A leaf${nodes.reason(i) ? `: ${nodes.reason(i).replace(/[.]$/, "")}` : ""}.`);
    else {
      const measured = splitText(nodes.now.strength[i], nodes.now.support[i]);
      const sizes = parts.map((j) => `${shape.labels[j]} (${nodes.size(j)})`);
      texts.push(`Split into ${sizes.join(" and ")}${measured ? `; ${measured}` : ""}.`);
    }
    return texts.join(" ");
  }
  function draw() {
    const i = nodes.read().selected;
    if (i === null || i >= nodes.shape.n) {
      list.replaceChildren();
      setText(facts, "");
      return;
    }
    const path = nodes.shape.path(i);
    const cut = path.length > TRAIL_STEPS;
    const shown = cut ? [...path.slice(0, 2), ...path.slice(2 - TRAIL_STEPS)] : path;
    const items = shown.map((j, k) => step(j, k === shown.length - 1));
    if (cut) items.splice(2, 0, h("li", { text: `… ${path.length - TRAIL_STEPS} more` }));
    list.replaceChildren(...items);
    setText(facts, told(i));
  }

  source.on(["children"], () => {
    nodes = treeNodes(source);
    draw();
  });
  source.on(["selected", "names", "hints", "frontier", "sizes", "weights", "strength", "support", "held", "reasons", "why"], draw, { now: false });
}
