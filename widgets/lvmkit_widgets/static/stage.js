// The stage: heading, layout, sections, tabs, links and files; one part per component.

// A model that keeps what the reader set until Python has heard of it: answers to earlier messages, which are still on
// their way then, would undo it, and Python, which takes the reader's word as the last, would never say it again.
function keeping(model) {
  if (model.get("stage_saved")) return model;
  const panels = model.model?.data; // Panel's own way would send a message for each field
  const kept = new Map(); // fields to what they were set to, and in which message
  const repeated = new Set(); // fields that were last sent to show them again, which is no news to Python
  const followed = new Set();
  let unsent = {};
  let last = 0; // the newest message of this view
  const check = () => {
    // At the end of the turn, when all fields of a message from Python are there.
    queueMicrotask(() => {
      const heard = model.get("stage_heard");
      const elsewhere = model.get("stage_told") > last; // the reader went on in another view of the same model
      const undone = {};
      for (const [name, { value, message }] of kept) {
        if (elsewhere || message <= heard) kept.delete(name);
        else if (JSON.stringify(model.get(name)) !== JSON.stringify(value)) undone[name] = value;
      }
      for (const name of Object.keys(undone)) repeated.add(name);
      if (Object.keys(undone).length) send({ ...undone, stage_repeated: repeats() }); // hosts show nothing unsent
    });
  };
  const repeats = () => [model.get("stage_repeated")[0] + 1, [...repeated]];
  const send = (changes) => {
    if (panels) return panels.setv(changes);
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  };
  return {
    get: (name) => model.get(name),
    set(name, value) {
      unsent[name] = value;
      if (!panels) model.set(name, value);
    },
    save_changes() {
      last = Math.max(last, model.get("stage_told"), model.get("stage_heard")) + 1;
      const news = { stage_told: last };
      for (const [name, value] of Object.entries(unsent)) {
        if (repeated.delete(name)) news.stage_repeated = repeats();
        kept.set(name, { value, message: last });
        if (!followed.has(name)) model.on(`change:${name}`, check);
        followed.add(name);
      }
      send({ ...unsent, ...news });
      unsent = {};
    },
    on: (event, listener) => model.on(event, listener),
    off: (event, listener) => model.off(event, listener),
    dispose() {
      for (const name of followed) model.off(`change:${name}`, check);
    },
  };
}

// A component's view of the shared model: fields without prefix, changes gathered per turn.
function partOf(model, name, { announce, follow }) {
  const watched = [];
  const part = {
    name,
    announce,
    saved: Boolean(model.get("stage_saved")),
    get: (field) => model.get(`${name}_${field}`),
    set(changes) {
      for (const [field, value] of Object.entries(changes)) {
        model.set(`${name}_${field}`, value);
        follow(name, field, value);
      }
      model.save_changes();
    },
    // Something happened; other fields that change with it travel in the same message. The last few events
    // travel along: while Python is busy, hosts merge messages and keep only the newest value of a field.
    fire(field, value = null, changes = {}) {
      const [count = 0, what, earlier = []] = part.get(field) ?? [];
      const before = count ? [...earlier, [count, what]].slice(-4) : [];
      for (const [other, now] of Object.entries(changes)) {
        model.set(`${name}_${other}`, now);
        follow(name, other, now);
      }
      model.set(`${name}_${field}`, [count + 1, value, before]);
      follow(name, field, value);
      model.save_changes();
    },
    // Draw now, and again once after any number of changes to these fields.
    on(fields, draw, { now = true } = {}) {
      let waiting = false;
      const changed = () => {
        if (waiting) return;
        waiting = true;
        queueMicrotask(() => {
          waiting = false;
          draw();
        });
      };
      for (const field of fields) {
        model.on(`change:${name}_${field}`, changed);
        watched.push([`change:${name}_${field}`, changed]);
      }
      if (now) draw();
    },
    dispose() {
      for (const [event, changed] of watched) model.off(event, changed);
    },
  };
  return part;
}

function isDark(el) {
  let node = el;
  while (node) {
    if (node instanceof Element) {
      const color = getComputedStyle(node).backgroundColor.match(/[\d.]+/g)?.map(Number);
      if (color && (color.length < 4 || color[3] > 0.5)) {
        return 0.299 * color[0] + 0.587 * color[1] + 0.114 * color[2] < 110;
      }
    }
    node = node.parentNode ?? node.host ?? null;
    if (node instanceof DocumentFragment && node.host) node = node.host;
  }
  return false;
}

function followTheme(root) {
  const update = () => root.toggleAttribute("data-dark", isDark(root.parentNode ?? root));
  const observer = new MutationObserver(() => requestAnimationFrame(update));
  for (const target of [document.documentElement, document.body]) {
    observer.observe(target, { attributes: true });
  }
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  scheme.addEventListener("change", update);
  requestAnimationFrame(update);
  update();
  return () => {
    observer.disconnect();
    scheme.removeEventListener("change", update);
  };
}

function helpButton(text, target) {
  const id = uid("help");
  const panel = h("div.lvm-help", { id, hidden: true }, richText(text));
  const button = h("button.lvm-q", {
    type: "button",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-label": `About ${target}`,
    text: "?",
    onclick() {
      panel.hidden = !panel.hidden;
      button.setAttribute("aria-expanded", String(!panel.hidden));
    },
  });
  return [button, panel];
}

function stage(shared, el, kinds, style) {
  const model = keeping(shared);
  document.getElementById("lvmkit-opening")?.remove(); // of a page that is served
  const root = h("div.lvm", { role: "region" });
  root.append(h("style", { text: style }));
  const voice = h("div.lvm-sr", { role: "status", "aria-live": "polite" });
  const announce = (text) => setText(voice, text);
  // What belongs to the layout that stands now; a new layout builds all of it again.
  let parts = [];
  let disposals = [];
  let boxes = [];
  let tabsShown = [];

  // A link hands a change on in the browser; cases do so in a saved page, where no Python answers.
  function follow(name, field, value) {
    const from = `${name}.${field}`;
    for (const [source, target] of main.get("links") ?? []) {
      if (source === from) put(target, value);
    }
    if (!main.saved) return;
    for (const { when, cases } of main.get("cases") ?? []) {
      if (when !== from) continue;
      const answer = cases[String(value)] ?? {};
      for (const [target, shown] of Object.entries(answer)) put(target, shown);
    }
  }

  // Links may go round in a circle, and some hosts show a value only after it was saved.
  const going = new Set();
  function put(target, value) {
    const [name, field] = target.split(".");
    if (going.has(target) || model.get(`${name}_${field}`) === value) return;
    going.add(target);
    model.set(`${name}_${field}`, value);
    follow(name, field, value);
    going.delete(target);
  }

  const main = partOf(model, "stage", { announce, follow });
  // `part.peer(name)` is another component, for a part that shows what that one holds.
  const open = (name) => {
    const part = partOf(model, name, { announce, follow });
    part.peer = open;
    parts.push(part);
    return part;
  };

  function shown(name) {
    return model.get(`${name}_visible`) && !(main.saved && model.get(`${name}_needs_python`));
  }

  // A part in its box; `box.live()` tells whether there is anything to see.
  function component(name) {
    const kind = main.get("kinds")[name];
    const part = open(name);
    const head = h("header.lvm-head", { hidden: true });
    const body = h(`div.lvm-${kind}`, { "data-part": name });
    const box = h(`section.lvm-box.lvm-box-${kind}`, {}, head, body);
    const helpPlace = h("div");
    head.after(helpPlace);
    part.on(["title", "help"], () => {
      const title = part.get("title");
      const help = part.get("help");
      const id = uid("title");
      head.replaceChildren();
      helpPlace.replaceChildren();
      head.hidden = !title && !help;
      box.classList.toggle("lvm-card", Boolean(title));
      if (title) {
        head.append(h("h3", { id, text: title }));
        box.setAttribute("aria-labelledby", id);
      }
      if (help) {
        const [button, panel] = helpButton(help, title || kind);
        head.append(button);
        helpPlace.append(panel);
      }
    });
    part.on(["visible"], refresh, { now: false });
    const dispose = kinds[kind](part, body);
    if (dispose) disposals.push(dispose);
    boxes.push({ el: box, live: () => shown(name) });
    return { el: box, live: () => shown(name) };
  }

  function group(tag, nodes, attributes = {}) {
    const built = nodes.map(build);
    const box = h(tag, attributes, built.map((node) => node.el));
    const live = () => built.some((node) => node.live());
    boxes.push({ el: box, live });
    return { el: box, live, built };
  }

  function row(node) {
    const result = group("div.lvm-row", node.row);
    const widths = node.row.map((_, i) => node.widths?.[i] ?? 1);
    result.built.forEach((child, i) => {
      child.el.style.flex = `${widths[i]} 1 ${Math.round((320 * widths[i]) / Math.min(...widths))}px`;
    });
    return result;
  }

  function sidebar(node) {
    const side = group("div.lvm-side", [node.sidebar].flat());
    const rest = group("div.lvm-main", [node.main].flat());
    const box = h("div.lvm-sidebar", {}, side.el, rest.el);
    const live = () => side.live() || rest.live();
    boxes.push({ el: box, live });
    boxes.push({ el: side.el, live: side.live, mark: () => box.toggleAttribute("data-alone", !side.live()) });
    return { el: box, live };
  }

  function section(node) {
    const inner = group("div.lvm-column", [node.section].flat());
    const box = h("details.lvm-group", {}, h("summary", {}, node.title ?? ""), inner.el);
    box.open = !node.closed;
    if (node.help) inner.el.prepend(h("div.lvm-help", {}, richText(node.help)));
    boxes.push({ el: box, live: inner.live });
    return { el: box, live: inner.live };
  }

  function tabs(node) {
    const key = node.id ?? "tabs";
    const panels = node.tabs.map((tab) => group("div.lvm-panel", [tab.content].flat(), { role: "tabpanel" }));
    const list = h("div.lvm-tabs", { role: "tablist" });
    const buttons = node.tabs.map((tab, i) => {
      panels[i].el.id = uid("panel");
      const choose = () => main.set({ tabs: { ...main.get("tabs"), [key]: i } });
      const button = h("button", {
        type: "button",
        role: "tab",
        id: uid("tab"),
        "aria-controls": panels[i].el.id,
        text: tab.title,
        onclick: choose,
      });
      panels[i].el.setAttribute("aria-labelledby", button.id);
      list.append(button);
      return button;
    });
    const usable = () => buttons.filter((button) => !button.hidden);
    const settle = roving(list, usable, { onfocus: (button) => button.click() });
    const show = () => {
      buttons.forEach((button, i) => (button.hidden = !panels[i].live()));
      const wanted = main.get("tabs")?.[key] ?? 0;
      const current = buttons[wanted]?.hidden ? buttons.findIndex((b) => !b.hidden) : wanted;
      buttons.forEach((button, i) => {
        button.setAttribute("aria-selected", String(i === current));
        panels[i].el.toggleAttribute("data-closed", i !== current);
      });
      settle(buttons[current]);
    };
    tabsShown.push(show);
    const box = h("div.lvm-tabbed", {}, list, panels.map((panel) => panel.el));
    const live = () => panels.some((panel) => panel.live());
    boxes.push({ el: box, live, mark: show });
    return { el: box, live };
  }

  function build(node) {
    if (typeof node === "string") return component(node);
    if (Array.isArray(node)) return group("div.lvm-column", node);
    if (node.row) return row(node);
    if (node.tabs) return tabs(node);
    if (node.section) return section(node);
    if (node.main !== undefined) return sidebar(node);
    throw new Error(`lvmkit: a layout cannot hold ${JSON.stringify(node).slice(0, 80)}`);
  }

  function refresh() {
    for (const { el: box, live, mark } of boxes) {
      box.hidden = !live();
      mark?.();
    }
  }

  function clear() {
    for (const dispose of disposals) dispose();
    for (const part of parts) part.dispose();
    [parts, disposals, boxes, tabsShown] = [[], [], [], []];
  }

  const menu = h("nav.lvm-menu", { "aria-label": "Dashboards", hidden: true });
  const heading = h("header.lvm-title");
  const footer = h("footer.lvm-footer");
  const place = h("div");
  root.append(menu, heading, place, footer, voice);
  main.on(["menu", "here", "view"], () => {
    const known = main.get("menu") ?? [];
    const [here, asked] = [main.get("here"), main.get("view")];
    menu.hidden = known.length < 2;
    menu.replaceChildren(
      ...known.map(([key, text, title]) => {
        const coming = key === asked && key !== here;
        const current = key === here ? "page" : null;
        return h("button", { type: "button", text, title, "aria-current": current, "aria-busy": coming, onclick: () => main.set({ view: key }) });
      }),
    );
  });
  main.on(["layout"], () => {
    clear();
    place.replaceChildren(build(main.get("layout") ?? []).el);
    refresh();
  });
  main.on(["tabs"], () => tabsShown.forEach((show) => show()), { now: false });
  main.on(["title", "subtitle", "footer"], () => {
    heading.replaceChildren();
    if (main.get("title")) heading.append(h("h2", { text: main.get("title") }));
    if (main.get("subtitle")) heading.append(h("p", { text: main.get("subtitle") }));
    root.setAttribute("aria-label", main.get("title") || "dashboard");
    setText(footer, main.get("footer") ?? "");
  });
  main.on(
    ["file_sent"],
    () => {
      const [count, file] = main.get("file_sent");
      if (!count || !file) return;
      saveFile(file.name, asArray(main.get("file"), Uint8Array), file.mime);
      announce(`Saved ${file.name}`);
      main.fire("file_taken", count);
    },
    { now: false },
  );
  el.append(root);
  const stopTheme = followTheme(root);
  // Parts of the layout are built anew with it; what the address follows stays.
  const followed = [];
  const lasting = (name) => {
    const part = name === "stage" ? main : partOf(model, name, { announce, follow });
    followed.push(part);
    return part;
  };
  const addressed = main.get("addressed") ?? [];
  const stopAddress = addressed.length ? followAddress(addressed, lasting, main.get("cases") ?? [], main.get("here")) : () => {};
  // The browser asks before a page is left whose work stands nowhere else.
  const ask = (event) => event.preventDefault();
  const warn = () => (addressed.length && main.get("unsaved") ? window.addEventListener : window.removeEventListener)("beforeunload", ask);
  main.on(["unsaved"], warn);
  // Plain keys stay here, or a notebook would take them for its own shortcuts.
  for (const kind of ["keydown", "keyup", "keypress"]) {
    root.addEventListener(kind, (event) => {
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    });
  }
  return () => {
    stopTheme();
    stopAddress();
    window.removeEventListener("beforeunload", ask);
    for (const part of followed) part.dispose();
    clear();
    main.dispose();
    model.dispose?.();
    root.remove();
  };
}
