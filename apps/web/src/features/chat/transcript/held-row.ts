/** A row and its position, to restore it after the content above has changed. */
export interface HeldRow {
  row: Element;
  top: number;
}

/** Returns the first visible row; null if there is none. */
export function holdRow(box: HTMLElement | null): HeldRow | null {
  const edge = box?.getBoundingClientRect().top ?? 0;
  const rows = box?.querySelectorAll("[data-row]") ?? [];
  const row = [...rows].find((each) => each.getBoundingClientRect().bottom > edge);
  return row ? { row, top: row.getBoundingClientRect().top } : null;
}

/** Scrolls a held row back to its position, if it still exists. */
export function bringBack(box: HTMLElement | null, held: HeldRow | null): void {
  if (box && held?.row.isConnected) {
    box.scrollTop += held.row.getBoundingClientRect().top - held.top;
  }
}
