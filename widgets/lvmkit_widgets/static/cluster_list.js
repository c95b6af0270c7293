// The clusters in a strip: number, share, and which one is selected.

function cluster_list(part, el) {
  const list = h("div.lvm-cards", { role: "listbox" });
  const hint = h("p.lvm-hint");
  el.append(list, hint);
  let cards = [];

  const columns = () => {
    const top = cards[0]?.offsetTop;
    const count = cards.findIndex((card) => card.offsetTop !== top);
    return count < 1 ? Math.max(cards.length, 1) : count;
  };
  const settle = roving(list, () => cards, { columns });

  function choose(id, more) {
    const others = part.get("others");
    if (more && part.get("comparable") && id !== part.get("selected")) {
      const rest = others.includes(id) ? others.filter((j) => j !== id) : [...others, id];
      part.set({ others: rest });
      part.announce(rest.includes(id) ? "Added to the comparison" : "Taken out of the comparison");
    } else {
      part.set({ selected: id, others: [] });
      part.announce(`${part.get("items").find((item) => item.id === id)?.name} selected`);
    }
  }

  function card(item, largest) {
    const n = typeof item.n === "number" ? integer(item.n) : String(item.n ?? "–");
    const share = item.share === null || item.share === undefined ? "" : percent(item.share);
    const more = item.more ?? "";
    const fill = h("i", {});
    fill.style.width = `${(100 * (item.share ?? 0)) / largest}%`;
    const act = (event) => choose(item.id, event.shiftKey || event.ctrlKey || event.metaKey);
    return h(
      "div.lvm-size",
      {
        role: "option",
        title: item.note || item.name,
        "data-id": item.id,
        "aria-label": `${item.name}, ${n} ${part.get("row_name")}${share ? `, ${share}` : ""}${more ? `, ${more}` : ""}`,
        ...pickable(act),
      },
      h("span.lvm-name", { text: item.name }),
      h("span.lvm-figures", {}, h("b", { text: n }), h("span", { text: share })),
      ...(more ? [h("span.lvm-more", { text: more })] : []),
      h("span.lvm-track", { "aria-hidden": "true" }, fill),
    );
  }

  part.on(["items", "row_name", "title", "comparable"], () => {
    const items = part.get("items");
    list.setAttribute("aria-label", part.get("title") || "Clusters");
    const focused = list.contains(list.getRootNode().activeElement)
      ? list.getRootNode().activeElement.dataset.id
      : null;
    const largest = Math.max(1e-9, ...items.map((item) => item.share ?? 0));
    cards = items.map((item) => card(item, largest));
    list.replaceChildren(...cards);
    const keys = `Arrow keys move, Enter selects${part.get("comparable") ? ", Shift adds to the comparison" : ""}.`;
    setText(hint, items.length ? keys : "Nothing here yet.");
    mark();
    if (focused !== null) cards.find((item) => item.dataset.id === focused)?.focus();
  });

  function mark() {
    const selected = part.get("selected");
    const others = part.get("others");
    let current = null;
    for (const item of cards) {
      const id = Number(item.dataset.id);
      if (id === selected) current = item;
      item.setAttribute("aria-selected", String(id === selected || others.includes(id)));
      item.classList.toggle("lvm-on", id === selected);
      item.classList.toggle("lvm-also", others.includes(id));
    }
    settle(current ?? cards[0]);
  }
  part.on(["selected", "others"], mark, { now: false });
}
