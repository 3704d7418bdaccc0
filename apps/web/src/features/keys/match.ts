// Rates how well a typed text matches an entry of the palette.

/** Returns the text in lower case, without accents. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const letter = /[\p{L}\p{N}]/u;

/** Rates how well one word matches a text: at its beginning, at the beginning of a word, or within one. */
function place(text: string, part: string): number {
  let best = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (at === 0) {
      return 4;
    }
    best = Math.max(best, letter.test(text[at - 1] ?? "") ? 1 : 3);
  }
  return best;
}

/** Returns the initials of the words of a text. */
function initials(text: string): string {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word[0]).join("");
}

/**
 * Rates how well a query matches; 0 if it does not. Each word of it must be in the title or in the further words, which
 * count less. The initials of the title's words match too, such as "ns" for "New session".
 */
export function rate(query: string, title: string, others = ""): number {
  const parts = fold(query).split(/\s+/).filter(Boolean);
  const [name, rest] = [fold(title), fold(others)];
  let sum = 0;
  for (const part of parts) {
    const short = parts.length === 1 && part.length > 1 && initials(name).startsWith(part) ? 5 : 0;
    const score = Math.max(place(name, part) * 2, short, place(rest, part));
    if (score === 0) {
      return 0;
    }
    sum += score;
  }
  const whole = parts.length > 1 && name.includes(parts.join(" ")) ? 2 : 0;
  return parts.length === 0 ? 0 : sum / parts.length + whole;
}
