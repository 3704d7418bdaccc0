/** The keys that a phone's keyboard lacks. */
export type PhoneKey = "escape" | "tab" | "left" | "up" | "down" | "right";

const letters = { left: "D", up: "A", down: "B", right: "C" } as const;

/** Returns the bytes of a key. Programs choose between two forms of the arrow keys. */
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

/** Returns the bytes of one typed character with the modifiers that were tapped before it. */
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

/** Sanitizes a program's title, so that it cannot change how the page reads. */
export function safeTitle(title: string): string {
  const plain = title.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, "").trim();
  return [...plain].slice(0, MAX_TITLE).join("");
}

/** Returns the address of a program's link if it may be offered, otherwise null. */
export function safeLink(text: string): string | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch {
    return null;
  }
}
