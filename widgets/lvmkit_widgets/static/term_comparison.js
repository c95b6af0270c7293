// Two topics face to face: the words that tell them apart, from the numbers of a relevance part.

// What each word adds to the Jensen-Shannon divergence of two rows.
function apart(p, q) {
  const half = (a, m) => (a > 0 ? a * Math.log(a / m) : 0);
  const added = new Float64Array(p.length);
  for (let i = 0; i < p.length; i++) {
    const m = (p[i] + q[i]) / 2;
    added[i] = Number.isNaN(m) || m <= 0 ? -1 : (half(p[i], m) + half(q[i], m)) / 2;
  }
  return added;
}

function term_comparison(part, el) {
  const source = part.peer(part.get("source"));
  const selects = ["first", "second"].map((field) => {
    const id = uid(field);
    const select = h("select", { id, onchange: () => part.set({ [field]: select.value === "" ? null : Number(select.value) }) });
    return { field, id, select };
  });
  const pair = h("div.lvm-pair", {}, selects.map(({ id, select }, i) => h("span", {}, h("i", { "aria-hidden": "true" }), h("label", { for: id, text: i ? "with" : "Topic" }), select)));
  const header = h("tr", {}, ["", "", "Term", "", ""].map((text) => h("th", { scope: "col", text })));
  const body = h("tbody");
  const table = h("table.lvm-grid", { role: "grid" }, h("thead", {}, header), body);
  const note = h("p.lvm-hint");
  el.append(pair, h("div.lvm-scroll", {}, table), note);
  const settle = roving(body, () => [...body.children]);

  function options() {
    const names = source.get("names");
    for (const { field, select } of selects) {
      const none = field === "second" ? [h("option", { value: "", text: "choose a topic …" })] : [];
      select.replaceChildren(...none, ...names.map((name, j) => h("option", { value: String(j), text: name })));
    }
  }

  function row(code, shares, widest, turn) {
    const attributes = { "aria-selected": String(code === source.get("code")), digits: 2, turn };
    return facingRow(part, code, shares, widest, attributes, h("td", { text: code, title: code }));
  }

  function draw() {
    const names = source.get("names");
    const [j, l] = [part.get("first"), part.get("second")];
    for (const { field, select } of selects) select.value = part.get(field) === null ? "" : String(part.get(field));
    const known = (t) => t !== null && t >= 0 && t < names.length;
    if (!known(j) || !known(l) || j === l) {
      body.replaceChildren();
      table.hidden = true;
      setText(note, j === l ? "Choose two different topics." : "Choose a topic to compare with.");
      return;
    }
    table.hidden = false;
    const codes = source.get("codes");
    const d = codes.length;
    const centers = asArray(source.get("centers"), Float32Array);
    const [p, q] = [centers.subarray(j * d, (j + 1) * d), centers.subarray(l * d, (l + 1) * d)];
    const added = apart(p, q);
    const of = (side) => largest([...added.keys()].filter((i) => added[i] > 0 && side * (p[i] - q[i]) > 0), added, 1, part.get("top"));
    const [mine, theirs] = [of(1), of(-1)];
    const shown = [...mine, ...theirs];
    const widest = Math.max(1e-9, ...shown.flatMap((i) => [p[i], q[i]]));
    body.replaceChildren(...shown.map((i, place) => row(codes[i], [p[i], q[i]], widest, place === mine.length && place > 0)));
    setText(header.children[1], `in ${j}`);
    setText(header.children[3], `in ${l}`);
    table.setAttribute("aria-label", `Terms that tell ${names[j]} from ${names[l]}`);
    setText(note, shown.length ? `Above the line: more in ${names[j]}; below: more in ${names[l]}.` : "No term tells them apart.");
    settle(null);
  }

  source.on(["names"], () => {
    options();
    draw();
  });
  source.on(["centers", "codes", "code"], draw, { now: false });
  part.on(["first", "second", "top"], draw, { now: false });
}
