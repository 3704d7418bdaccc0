/** The name of a draft in the storage of this tab. */
export function draftName(key: string): string {
  return `draft:${key}`;
}

/** Keeps the text of a composer for this tab. */
export function keepDraft(key: string, text: string): void {
  try {
    if (text) sessionStorage.setItem(draftName(key), text);
    else sessionStorage.removeItem(draftName(key));
  } catch {} // storage is full or closed: the draft lives in the page alone
}
