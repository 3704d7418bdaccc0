// Messages are cards, which can be changed and have buttons. Text is shown as it is, and only
// blocks of code are Markdown, whose fences and mentions are broken up in the text.

/** card is a message, as JSON 2.0 of cards. */
export function card(parts, buttons) {
  const elements = [];
  let text = "";
  const flush = () => {
    if (text.trim()) elements.push({ tag: "div", text: { tag: "plain_text", content: text.trim() } });
    text = "";
  };
  for (const part of parts) {
    if (part.kind !== "block") {
      text += part.text;
      continue;
    }
    flush();
    const inside = part.text.replaceAll("`", "`\u200b").replaceAll("<", "<\u200b");
    elements.push({ tag: "markdown", content: `\`\`\`${part.lang ?? ""}\n${inside}\n\`\`\`` });
  }
  flush();
  for (const { label, data, risky } of buttons) {
    elements.push({
      tag: "button",
      text: { tag: "plain_text", content: label },
      type: risky ? "danger" : "default",
      behaviors: [{ type: "callback", value: { data } }],
    });
  }
  return { schema: "2.0", config: { update_multi: true }, body: { elements } };
}
