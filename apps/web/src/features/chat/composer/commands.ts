/** What a /compact is to look at; null where the text is no such command. */
export function compactFocus(text: string): string | null {
  const found = /^\/compact(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found ? (found[1] ?? "") : null;
}
