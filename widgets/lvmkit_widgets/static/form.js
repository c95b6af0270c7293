// Labelled controls from data. Values go to Python when the reader has settled on them.

function optionsOf(control) {
  return (control.options ?? []).map((option) =>
    Array.isArray(option) ? { value: option[0], label: String(option[1]) } : { value: option, label: String(option) },
  );
}

function numberControl(control, id, send) {
  const { min, max, step } = control;
  const el = h("input", { id, type: "number", min, max, step: step ?? "any", inputmode: "decimal" });
  el.addEventListener("change", () => {
    if (el.value.trim() === "" && !el.validity.badInput) return send(null);
    const value = Number(el.value);
    const low = min !== undefined && value < min;
    const high = max !== undefined && value > max;
    const whole = Number.isInteger(step);
    const broken = whole && !Number.isInteger(value);
    if (!el.validity.badInput && !low && !high && !broken) return send(value);
    const from = min === undefined ? "" : ` from ${min}`;
    const to = max === undefined ? "" : ` to ${max}`;
    return send(undefined, `Enter a ${whole ? "whole " : ""}number${from}${to}.`);
  });
  return { el, show: (value) => (el.value = value ?? "") };
}

function rangeControl(control, id, send) {
  const { min = 0, max = 1, step = 0.01 } = control;
  const output = h("output", { for: id });
  const input = h("input", { id, type: "range", min, max, step });
  const rest = debounced(80, () => send(Number(input.value)));
  input.addEventListener("input", () => {
    setText(output, input.value);
    rest();
  });
  const show = (value) => {
    input.value = value ?? min;
    setText(output, input.value);
  };
  return { el: h("span.lvm-slider", {}, input, output), focus: input, show };
}

function selectControl(control, id, send) {
  const options = optionsOf(control);
  const el = h("select", { id }, options.map(({ label }, i) => h("option", { value: String(i), text: label })));
  el.addEventListener("change", () => send(options[Number(el.value)].value));
  const show = (value) => {
    const i = options.findIndex((option) => option.value === value);
    el.selectedIndex = i;
  };
  return { el, show };
}

function textControl(control, id, send) {
  const many = control.kind === "textarea";
  const el = h(many ? "textarea" : "input", {
    id,
    type: many ? undefined : "text",
    rows: many ? (control.rows ?? 3) : undefined,
    placeholder: control.placeholder,
    spellcheck: "false",
  });
  el.addEventListener("change", () => send(el.value));
  const show = (value) => (el.value = value ?? "");
  if (!control.suggestions?.length) return { el, show };
  const source = () => optionsOf({ options: control.suggestions });
  const { host, close } = proposals(el, source, (value) => {
    el.value = String(value);
    send(el.value);
  });
  el.addEventListener("keydown", (event) => {
    if (event.key === "Enter") close();
  });
  return { el: host, focus: el, show };
}

// Chosen values as chips, more by typing; fine with hundreds of options.
function multiselectControl(control, id, send) {
  const options = optionsOf(control);
  const labels = new Map(options.map(({ value, label }) => [value, label]));
  const input = h("input", { id, type: "text", placeholder: control.placeholder ?? "Add …" });
  const chips = h("span.lvm-chips");
  let values = [];
  const update = (next) => {
    values = next;
    draw();
    send(next);
  };
  const add = (value) => {
    input.value = "";
    if (!values.includes(value)) update([...values, value]);
  };
  const { host } = proposals(input, () => options.filter(({ value }) => !values.includes(value)), add);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Backspace" && input.value === "" && values.length) update(values.slice(0, -1));
    if (event.key !== "Enter" || event.defaultPrevented || !input.value.trim()) return;
    const typed = input.value.trim().toLowerCase();
    const exact = options.find(({ value, label }) => [String(value).toLowerCase(), label.toLowerCase()].includes(typed));
    if (exact) add(exact.value);
  });
  function draw() {
    chips.replaceChildren(
      ...values.map((value) => {
        const label = labels.get(value) ?? String(value);
        const remove = () => {
          update(values.filter((other) => other !== value));
          input.focus();
        };
        const cross = h("button", { type: "button", "aria-label": `Remove ${label}`, text: "×", onclick: remove });
        return h("span.lvm-chip", { title: label }, h("span", { text: label }), cross);
      }),
    );
  }
  const show = (value) => {
    values = value ?? [];
    draw();
  };
  return { el: h("span.lvm-multi", {}, chips, host), focus: input, show };
}

function checkControl(control, id, send) {
  const el = h("input", { id, type: "checkbox" });
  el.addEventListener("change", () => send(el.checked));
  return { el, show: (value) => (el.checked = Boolean(value)) };
}

const CONTROLS = {
  number: numberControl,
  range: rangeControl,
  select: selectControl,
  text: textControl,
  textarea: textControl,
  multiselect: multiselectControl,
  check: checkControl,
};

function form(part, el) {
  let fields = new Map();
  let drawn = "";

  function buttonField(control) {
    const style = control.primary ? "primary" : control.danger ? "danger" : "plain";
    const button = h(`button.${style}`, {
      type: "button",
      text: control.label ?? control.name,
      title: control.help,
      onclick: () => part.fire("pressed", control.name),
    });
    return { control, box: h("div.lvm-field.lvm-press", {}, button), focus: button, show() {}, error() {} };
  }

  function field(control) {
    if (control.kind === "button") return buttonField(control);
    if (control.kind === "note") {
      const box = h("div.lvm-field.lvm-note", {}, richText(control.label ?? ""));
      return { control, box, focus: null, show() {}, error() {} };
    }
    const id = uid(control.name);
    const wrong = h("span.lvm-wrong", { id: `${id}-wrong`, role: "alert" });
    const help = h("span.lvm-hint", { id: `${id}-help`, text: control.help ?? "" });
    const error = (message) => {
      setText(wrong, message ?? "");
      wrong.hidden = !message;
      setAttribute(focus, "aria-invalid", message ? "true" : null);
    };
    const send = (value, message = "") => {
      error(message);
      if (value === undefined) return;
      part.set({ values: { ...part.get("values"), [control.name]: value } });
    };
    const made = CONTROLS[control.kind](control, id, send);
    const focus = made.focus ?? made.el;
    focus.setAttribute("aria-describedby", `${id}-help ${id}-wrong`);
    const label = h("label", { for: id, text: control.label ?? control.name });
    const pair = control.kind === "check" ? h("span.lvm-check", {}, made.el, label) : [label, made.el];
    help.hidden = !control.help;
    const box = h("div.lvm-field", { "data-kind": control.kind }, pair, help, wrong);
    return { control, box, focus, show: made.show, error };
  }

  part.on(["controls", "inline"], () => {
    el.toggleAttribute("data-inline", part.get("inline"));
    const wanted = JSON.stringify(part.get("controls"));
    if (wanted === drawn) return;
    drawn = wanted;
    const active = el.getRootNode().activeElement;
    const focused = [...fields.values()].find(({ box }) => box.contains(active))?.control.name;
    fields = new Map(part.get("controls").map((control) => [control.name, field(control)]));
    for (const { control, box } of fields.values()) box.classList.toggle("lvm-wide", Boolean(control.wide));
    el.replaceChildren(...[...fields.values()].map(({ box }) => box));
    showValues();
    showErrors();
    showBusy();
    if (focused) fields.get(focused)?.focus?.focus();
  });

  function showValues() {
    const values = part.get("values");
    for (const [name, { show }] of fields) show(values[name]);
  }
  function showErrors() {
    const errors = part.get("errors");
    for (const [name, { error }] of fields) error(errors[name] ?? "");
  }
  function showBusy() {
    const busy = part.get("busy");
    el.setAttribute("aria-busy", String(busy));
    for (const { control, box } of fields.values()) {
      for (const input of box.querySelectorAll("input, select, textarea, button")) {
        input.disabled = busy || Boolean(control.disabled);
      }
    }
  }
  part.on(["values"], showValues, { now: false });
  part.on(["errors"], showErrors, { now: false });
  part.on(["busy"], showBusy, { now: false });
}
