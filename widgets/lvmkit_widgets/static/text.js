// Plain text with paragraphs, lists and headings.

function text(part, el) {
  part.on(["text", "tone"], () => {
    el.dataset.tone = part.get("tone");
    el.replaceChildren(...richText(part.get("text") ?? ""));
  });
}
