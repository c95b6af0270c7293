// A slider over a few named steps, such as the models of a dashboard.

function step_slider(part, el) {
  const id = uid("step");
  const label = h("label", { for: id });
  const output = h("output", { for: id });
  const input = h("input", { id, type: "range", min: 0, step: 1 });
  const note = h("span.lvm-hint");
  el.append(h("div.lvm-which", {}, label, output, input, note));
  const say = () => {
    const { label: name = "", note: more = "" } = part.get("options")[Number(input.value)] ?? {};
    setText(output, name);
    setText(note, more);
    note.hidden = !more;
    input.setAttribute("aria-valuetext", name);
  };
  const rest = debounced(120, () => {
    part.set({ selected: Number(input.value) });
    part.announce(output.textContent);
  });
  input.addEventListener("input", () => {
    say();
    rest();
  });
  part.on(["options", "label"], () => {
    input.max = Math.max(0, part.get("options").length - 1);
    input.disabled = part.get("options").length < 2;
    setText(label, part.get("label"));
    input.value = part.get("selected");
    say();
  });
  part.on(["selected"], () => {
    input.value = part.get("selected");
    say();
  }, { now: false });
}
