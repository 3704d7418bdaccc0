import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** How many rows are shown at first, and how many more each time the reader comes near the top. */
const page = 120;

/** How many rows are shown before one that is brought into sight. */
const lead = 20;

/** What there is beyond the list: entries that the host has and this page has not. */
export interface Beyond {
  state: "none" | "some" | "loading";
  load(): void;
}

/** The first row that is shown. */
interface Mark {
  key: string | undefined;
  /** How many rows were shown from it on, for when it is gone. */
  shown: number;
}

/** The index of the first row to show. A list that grew at its front moves the row. */
export function firstShown(keys: readonly string[], { key, shown }: Mark): number {
  if (key === undefined) return 0;
  const at = keys.indexOf(key);
  return at >= 0 ? at : Math.max(0, keys.length - Math.max(shown, page));
}

function markAt(rows: readonly { key: string }[], first: number): Mark {
  return { key: rows[first]?.key, shown: rows.length - first };
}

/**
 * Shows the last rows of a long list, and earlier ones as the reader scrolls up
 * to `sentinel`; at the top of the list it asks for what lies beyond. What is in
 * sight stays where it is when rows are added above. `reveal` shows the rows
 * around an index.
 */
export function useWindow(
  rows: readonly { key: string }[],
  box: RefObject<HTMLElement | null>,
  sentinel: RefObject<HTMLElement | null>,
  beyond: Beyond,
) {
  const [mark, setMark] = useState(() => markAt(rows, Math.max(0, rows.length - page)));
  const before = useRef<{ height: number; top: number } | null>(null);
  const first = firstShown(
    rows.map((row) => row.key),
    mark,
  );
  const { state, load } = beyond;

  useLayoutEffect(() => {
    const element = box.current;
    if (element && before.current)
      element.scrollTop = before.current.top + element.scrollHeight - before.current.height;
    before.current = null;
  });

  useEffect(() => {
    const element = sentinel.current;
    if (!element || (first === 0 && state !== "some")) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting || !box.current) return;
        if (first === 0) {
          // Marked first, so that the rows that come do not push the list away.
          setMark(markAt(rows, 0));
          load();
          return;
        }
        before.current = { height: box.current.scrollHeight, top: box.current.scrollTop };
        setMark(markAt(rows, Math.max(0, first - page)));
      },
      { root: box.current, rootMargin: "800px 0px 0px 0px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, sentinel, rows, first, state, load]);

  const reveal = useCallback((index: number) => setMark(markAt(rows, Math.max(0, index - lead))), [rows]);

  return { first, reveal };
}
