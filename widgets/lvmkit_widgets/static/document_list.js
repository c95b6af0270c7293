// The documents that stand for a topic; their text is only ever text, with the topic's words marked.

const FIRST_LETTERS = 420;

// Text with the words marked, as nodes.
function marked(text, words) {
  if (!words.length) return [document.createTextNode(text)];
  const escaped = [...words]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ +/g, "\\W+"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(${escaped.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return text.split(pattern).map((piece, i) => (i % 2 ? h("mark", { text: piece }) : document.createTextNode(piece)));
}

// The beginning of a text, cut between words.
function beginning(text, most) {
  if (text.length <= most) return text;
  const cut = text.lastIndexOf(" ", most);
  return `${text.slice(0, cut > most / 2 ? cut : most)} …`;
}

function document_list(part, el) {
  let open = new Set();

  function article(doc, words) {
    const whole = part.get("opened")?.row === doc.row ? part.get("opened").text : null;
    const text = whole ?? doc.text ?? "";
    const wide = open.has(doc.row) || whole !== null;
    const fill = h("i");
    fill.style.width = `${100 * doc.share}%`;
    const head = h(
      "header",
      {},
      h("b", { text: doc.title }),
      h("span.lvm-track", { "aria-hidden": "true" }, fill),
      h("span", { text: `${percent(doc.share)} of it` }),
      h("span", { text: doc.about ?? "" }),
    );
    const body = h(`p${wide && text.length > 3000 ? ".lvm-long" : ""}`, { tabindex: wide && text.length > 3000 ? 0 : null });
    body.append(...marked(wide ? text : beginning(text, FIRST_LETTERS), words));
    const tools = h("div.lvm-tools");
    const tool = (label, act) => tools.append(h("button.quiet", { type: "button", text: label, "aria-label": `${label}: ${doc.title}`, onclick: act }));
    const long = text.length > FIRST_LETTERS;
    if (wide && long) tool("Show less", () => toggle(doc.row, false));
    else if (long) tool("Show more", () => toggle(doc.row, true));
    if (doc.cut && whole === null && !part.saved) tool("Whole text", () => part.fire("open", doc.row));
    if (doc.cut && whole === null && part.saved && wide) tools.append(h("span.lvm-hint", { text: "A passage; the whole text is not in this page." }));
    return h("article.lvm-doc", { "data-row": doc.row }, head, body, tools);
  }

  function toggle(row, wide) {
    if (wide) open.add(row);
    else open.delete(row);
    if (!wide && part.get("opened")?.row === row) part.set({ opened: null });
    else draw();
    el.querySelector(`[data-row="${row}"] button`)?.focus();
  }

  function draw() {
    const topic = String(part.get("topic"));
    const found = part.get("items")[topic];
    const words = part.get("marks")[topic] ?? [];
    if (!found) el.replaceChildren(h("p.lvm-empty", { text: part.get("hint") || "No documents yet." }));
    else if (!found.length) el.replaceChildren(h("p.lvm-empty", { text: "No document has this topic." }));
    else el.replaceChildren(...found.map((doc) => article(doc, words)));
  }

  part.on(["topic"], () => {
    open = new Set();
    draw();
  });
  part.on(["items", "marks", "opened", "hint"], draw, { now: false });
}
