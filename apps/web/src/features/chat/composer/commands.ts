/** Returns the focus of a /compact command; null if the text is not one. */
export function compactFocus(text: string): string | null {
  const found = /^\/compact(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found ? (found[1] ?? "") : null;
}
