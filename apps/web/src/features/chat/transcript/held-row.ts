/** A row and where it stands, to bring it back there over a change of what is above it. */
export interface HeldRow {
  row: Element;
  top: number;
}

/** The first row in sight; null where there is none. */
export function holdRow(box: HTMLElement | null): HeldRow | null {
  const edge = box?.getBoundingClientRect().top ?? 0;
  const rows = box?.querySelectorAll("[data-row]") ?? [];
  const row = [...rows].find((each) => each.getBoundingClientRect().bottom > edge);
  return row ? { row, top: row.getBoundingClientRect().top } : null;
}

/** Scrolls a held row back to where it stood, if it is still there. */
export function bringBack(box: HTMLElement | null, held: HeldRow | null): void {
  if (box && held?.row.isConnected) {
    box.scrollTop += held.row.getBoundingClientRect().top - held.top;
  }
}
