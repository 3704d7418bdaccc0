import { type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import { keep, readKept, useEntryKey } from "../../shared/kept";
import type { Row } from "./rows";
import type { Target } from "./use-jump";

/** Where a reader was: at an entry, so far below the top of the box, or at the end. */
type Place = { entryId: string; offset: number } | "end";

export interface Begun {
  /** What to bring into sight; undefined stays at the end. */
  target: Target | undefined;
  /** The reader was there before: it is not what a search led to. */
  back: boolean;
}

/**
 * Where the transcript of a session begins: where its reader was when they come back, else at the entry of the
 * address. It is kept when the page is left.
 */
export function useKeptPlace(
  sessionId: string,
  entryId: string | undefined,
  box: RefObject<HTMLElement | null>,
  rows: readonly Row[],
  atEnd: boolean,
): Begun {
  const key = useEntryKey(`transcript ${sessionId}`);
  const shown = useRef({ rows, atEnd });
  useLayoutEffect(() => {
    shown.current = { rows, atEnd };
  }, [rows, atEnd]);
  // The address may change a moment before the page does: what is kept belongs to the address before.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return;
    }
    const leave = () => keep(key, shown.current.atEnd ? "end" : placeIn(element, shown.current.rows));
    window.addEventListener("pagehide", leave);
    return () => {
      window.removeEventListener("pagehide", leave);
      leave();
    };
  }, [box, key]);
  return useMemo(() => {
    const place = readKept<Place>(key);
    if (place === undefined) {
      return { target: entryId === undefined ? undefined : { entryId, where: "middle" }, back: false };
    }
    return { target: place === "end" ? undefined : { entryId: place.entryId, where: place.offset }, back: true };
  }, [key, entryId]);
}

/** The first row in sight; undefined where there is none. */
function placeIn(box: HTMLElement, rows: readonly Row[]): Place | undefined {
  const edge = box.getBoundingClientRect().top;
  const shown = [...box.querySelectorAll("[data-row]")].find((row) => row.getBoundingClientRect().bottom > edge + 1);
  const row = rows.find((each) => each.key === shown?.getAttribute("data-row"));
  if (!shown || !row) {
    return undefined;
  }
  return {
    entryId: row.kind === "user" ? row.entry.id : row.key,
    offset: Math.round(shown.getBoundingClientRect().top - edge),
  };
}
