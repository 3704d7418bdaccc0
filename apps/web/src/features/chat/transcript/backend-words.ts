// What the log says about agents of other programs, in words.
import { t } from "../../../i18n/chat";
import { isRecord } from "../calls/tool-facts";

type Fields = Record<string, unknown>;

/** A note, or a title with a text that can be opened. */
export interface BackendText {
  note?: string;
  title?: string;
  text?: string;
}

/** Returns how the transcript shows a record about a backend; null if it does not. */
export function backendText(data: Fields): BackendText | null {
  const name = textOf(data.backend) || "scorel";
  switch (data.kind) {
    case "chosen":
      return { note: t("chat.backend.chosen", { name }) };
    case "session":
      return sessionText(name, data);
    case "options":
      return optionsText(name, data);
    case "notice":
      return noticeText(name, data);
    case "compaction":
      return data.title === "in_progress"
        ? null
        : { title: t("chat.backend.compaction", { name, state: textOf(data.title) }), text: textOf(data.text) };
    case "update":
      return {
        title: t("chat.backend.unknown", { name, kind: kindOf(data) }),
        text: data.update === undefined ? textOf(data.text) : JSON.stringify(data.update, null, 2),
      };
    default:
      return null; // commands and usage are shown elsewhere
  }
}

function sessionText(name: string, { rebuilt }: Fields): BackendText | null {
  return typeof rebuilt === "number" && rebuilt > 0
    ? { note: t("chat.backend.rebuilt", { name, count: rebuilt }) }
    : null;
}

/** The mode is named; one in which the agent decides by itself is a warning. */
function optionsText(name: string, { options, decides }: Fields): BackendText | null {
  const mode = (Array.isArray(options) ? options : []).filter(isRecord).find(({ category }) => category === "mode");
  if (!mode) {
    return null;
  }
  const choices = Array.isArray(mode.choices) ? mode.choices.filter(isRecord) : [];
  const label = textOf(choices.find(({ value }) => value === mode.value)?.name) || textOf(mode.value);
  return {
    note: decides ? t("chat.backend.decides", { name, mode: label }) : t("chat.backend.mode", { name, mode: label }),
  };
}

function noticeText(name: string, { title, text }: Fields): BackendText {
  const said = t("chat.backend.notice", { name, title: textOf(title) });
  return textOf(text) === "" ? { note: said } : { title: said, text: textOf(text) };
}

function kindOf({ title, update }: Fields): string {
  const kind = isRecord(update) ? textOf(update.sessionUpdate) : "";
  return textOf(title) || kind || "?";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
