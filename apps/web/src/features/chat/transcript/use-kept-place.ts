import { type RefObject, useLayoutEffect, useMemo, useRef } from "react";
import { keep, readKept, useEntryKey } from "../../shared/kept";
import type { Row } from "./rows";
import type { Target } from "./use-jump";

/** The position of a reader: an entry at an offset below the top of the box, or the end. */
type Place = { entryId: string; offset: number } | "end";

export interface Begun {
  /** The target to scroll to; undefined stays at the end. */
  target: Target | undefined;
  /** Whether the reader returns to a position, rather than to a search result. */
  back: boolean;
}

/**
 * The initial position in a session's transcript: the reader's last position on return, otherwise the entry of the
 * address. It is stored when the page is left.
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
  // The address may change a moment before the page does: the position belongs to the earlier address.
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

/** Returns the first visible row; undefined if there is none. */
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
