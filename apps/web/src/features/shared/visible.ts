// Line ends and tabs are visible. U+2800 is a Braille pattern without a dot.
const hidden = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Writes out characters that nobody sees: control characters, those without width, and those that reverse the direction
 * of a line. A request must read as what runs. What chooses the form of an emoji stays.
 */
export function visible(text: string): string {
  return text.replace(hidden, (mark, at: number) => (formsEmoji(text, at) ? mark : written(mark)));
}

const written = (mark: string) => `<U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;

const variants = ["\uFE0E", "\uFE0F"];

/** Reports whether a character says how the symbol before it is shown: as text or in color. */
function formsEmoji(text: string, at: number): boolean {
  return variants.includes(text[at] ?? "") && /\p{So}$/u.test(text.slice(Math.max(0, at - 2), at));
}
