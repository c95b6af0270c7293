// The cluster that is picked: what it speaks for, its weight for each class, and its covariates.

const MEMBERS_SHOWN = 25;

// Small weights have one digit more; none is a minus zero.
function weightText(weight, widest) {
  const digits = widest < 0.1 ? 3 : 2;
  return fixed(Math.abs(weight) < 0.5 / 10 ** digits ? 0 : weight, digits);
}

function covariate_cluster(part, el) {
  const source = part.peer(part.get("source"));
  const head = h("h4");
  const facts = h("p");
  const bars = h("ul.lvm-weights");
  const header = h("tr");
  const body = h("tbody");
  const table = h("table.lvm-grid", { "aria-label": "Covariates of the cluster" }, h("thead", {}, header), body);
  const more = h("button.quiet", { type: "button", onclick: () => { every = !every; draw(); } });
  const note = h("p.lvm-hint");
  el.append(head, facts, bars, h("div.lvm-scroll", {}, table), more, note);
  let known = covariateClusters(source);
  let every = false;

  function bar(name, weight, widest) {
    const fill = h(weight < 0 ? "i.lvm-minus" : "i");
    fill.style.width = `${(50 * Math.abs(weight)) / widest}%`;
    return h("li", {}, h("span", { text: name, title: name }), h("span.lvm-weight", { "aria-hidden": "true" }, fill), h("b", { text: weightText(weight, widest) }));
  }
  function sentence(i) {
    const { clusters, classes, members } = known;
    const [best, next] = [classes[clusters.best[i]], classes[clusters.next[i]]];
    if (next === undefined) return "";
    const odds = clusters.odds[i];
    if (odds < 1.0005) return `It speaks for no class: the odds of ${best} against ${next} hardly change with it.`;
    const what = members[i].length > 1 ? "any of its covariates" : "its covariate";
    return `One unit more in ${what} multiplies the odds of ${best}, against ${next} as the next class, by ${oddsText(odds)}.`;
  }
  function line(j, cluster) {
    const { names, classes, alone, clusters } = known;
    const other = alone.best[j] !== clusters.best[cluster];
    const found = j === source.get("covariate");
    return h(
      "tr",
      { "aria-current": found ? "true" : null },
      h("td.lvm-cell-text", {}, found ? h("mark", { text: names[j] }) : names[j]),
      h("td.lvm-cell-text", { text: `${classes[alone.best[j]] ?? "–"}${other ? " (differs)" : ""}` }),
      h("td.lvm-number", { text: oddsText(alone.odds[j]) }),
    );
  }
  function nothing() {
    setText(head, "");
    setText(facts, "Pick a cluster in the list, or find a covariate.");
    bars.replaceChildren();
    table.hidden = more.hidden = true;
    setText(note, "");
  }
  function draw() {
    const i = source.get("selected");
    if (i === null || i >= known.members.length) return nothing();
    const { clusters, classes, members, alone } = known;
    const list = members[i];
    setText(head, `Cluster ${i}: ${list.length === 1 ? "one covariate" : `${integer(list.length)} covariates`}`);
    setText(facts, sentence(i));
    const weights = classes.map((_, k) => clusters.weights[k * clusters.n + i]);
    const widest = Math.max(1e-9, ...weights.map(Math.abs));
    bars.replaceChildren(...classes.map((name, k) => bar(name, weights[k], widest)));
    bars.setAttribute("aria-label", "Weight of the cluster for each class");
    const found = source.get("covariate");
    const at = list.indexOf(found);
    const first = every ? list : list.slice(0, Math.max(MEMBERS_SHOWN, at < 0 ? 0 : at + 1));
    table.hidden = false;
    header.replaceChildren(
      ...[["Covariate", ""], ["By itself speaks for", ""], ["Odds ratio", ".lvm-number"]].map(([text, style]) => h(`th${style}`, { scope: "col", text })),
    );
    body.replaceChildren(...first.map((j) => line(j, i)));
    more.hidden = list.length <= MEMBERS_SHOWN;
    setText(more, every ? "Show fewer" : `Show all ${integer(list.length)}`);
    const differ = list.filter((j) => alone.best[j] !== clusters.best[i]).length;
    const warn = differ ? `${integer(differ)} of ${integer(list.length)} would speak for another class by themselves. ` : "";
    const nu = part.get("least_nu");
    setText(note, list.length > 1 ? `${warn}“By itself” is at ${nu || "the smallest ν"}, where the fewest covariates share a weight.` : "");
  }
  source.on(["names", "classes", "labels", "weights", "alone"], () => {
    known = covariateClusters(source);
    draw();
  });
  source.on(["selected"], () => {
    every = false;
    draw();
  }, { now: false });
  source.on(["covariate"], draw, { now: false });
  part.on(["least_nu"], draw, { now: false });
}
