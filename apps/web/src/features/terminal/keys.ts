/** The keys that a phone's keyboard lacks. */
export type PhoneKey = "escape" | "tab" | "left" | "up" | "down" | "right";

const letters = { left: "D", up: "A", down: "B", right: "C" } as const;

/** What a key sends. Programs choose between two forms of the arrows. */
export function sequenceOf(key: PhoneKey, application: boolean): string {
  switch (key) {
    case "escape":
      return "\x1b";
    case "tab":
      return "\t";
    default:
      return `\x1b${application ? "O" : "["}${letters[key]}`;
  }
}

export interface Modifiers {
  ctrl: boolean;
  alt: boolean;
}

/** What one typed character sends with the modifiers that were tapped before it. */
export function modified(text: string, { ctrl, alt }: Modifiers): string {
  let out = text;
  if (ctrl && text.length === 1) {
    const code = text.toUpperCase().charCodeAt(0);
    if (text === " ") {
      out = "\0";
    } else if (code >= 0x40 && code <= 0x5f) {
      out = String.fromCharCode(code & 0x1f);
    }
  }
  return alt ? `\x1b${out}` : out;
}

const MAX_TITLE = 60;

/** A title that a program chose, without what could change how the page reads. */
export function safeTitle(title: string): string {
  const plain = title.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, "").trim();
  return [...plain].slice(0, MAX_TITLE).join("");
}

/** Whether a link of a program may be offered at all. */
export function safeLink(text: string): string | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}
