import {
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { whenIdle } from "../../shared/when-idle";
import { whenSeen } from "../../shared/when-seen";
import { bringBack, type HeldRow, holdRow } from "./held-row";

/** How many rows are shown at first: a screen of them, since the reader waits for these. */
const begin = 12;

/** How many come at a time while the browser has nothing to do, until there is a page of them. */
const few = 4;
const page = 80;

/** How many more come each time the reader is near an end of them: as many as a slow phone puts there in a blink. */
const step = 40;

/** How many rows are shown before one that is brought into sight. */
const lead = 20;

/** How many rows are in the page at most: more than these make every change of it slow. */
const most = 600;

/** What there is beyond the list: entries that the host has and this page has not. */
export interface Beyond {
  state: "none" | "some" | "loading";
  load(): void;
}

/** The rows that are shown. A row is known by its key, since a list that grows at its front moves it. */
interface Mark {
  key: string | undefined;
  /** How many rows there were from it on, for when it is gone. */
  left: number;
  /** How many are shown from it on; null shows all, and those that come. */
  shown: number | null;
}

/** The index of the first row to show. */
export function firstShown(rows: readonly { key: string }[], { key, left }: Pick<Mark, "key" | "left">): number {
  if (key === undefined) {
    return 0;
  }
  const at = rows.findIndex((row) => row.key === key);
  return at >= 0 ? at : Math.max(0, rows.length - Math.max(left, page));
}

type Rows = readonly { key: string }[];

/** The rows from an index to the end, or the most there may be. */
function markAt(rows: Rows, first: number, last = rows.length): Mark {
  const from = Math.max(0, first);
  const shown = Math.min(last - from, most);
  return {
    key: rows[from]?.key,
    left: rows.length - from,
    shown: from + shown >= rows.length ? null : shown,
  };
}

/**
 * Shows a part of a long list: its end, and more as the reader scrolls to `top` or
 * `bottom`; what lies far behind the reader leaves the page. At the top of the list
 * it asks for what lies beyond. What is in sight stays where it is. `reveal` shows
 * the rows around an index, `toEnd` the last ones. Only once it is `ready` does the list
 * grow by itself: rows that are drawn before are drawn twice.
 */
export function useWindow(
  rows: Rows,
  box: RefObject<HTMLElement | null>,
  top: RefObject<HTMLElement | null>,
  bottom: RefObject<HTMLElement | null>,
  beyond: Beyond,
  ready: boolean,
) {
  const [mark, setMark] = useState(() => markAt(rows, rows.length - begin));
  const first = useMemo(() => firstShown(rows, mark), [rows, mark]);
  const last = mark.shown === null ? rows.length : Math.min(rows.length, first + mark.shown);
  const move = useKeptPlace(box);
  const { state, load } = beyond;
  const shown = [rows, first, last, state];

  useNear(box, top, first > 0 || state === "some", shown, () => {
    if (first > 0) {
      return move(() => setMark(markAt(rows, first - step, last)));
    }
    // Marked first, so that the rows that come do not push the list away.
    setMark(markAt(rows, 0, last));
    load();
  });
  useNear(box, bottom, last < rows.length, shown, () => {
    const next = Math.min(rows.length, last + step);
    move(() => setMark(markAt(rows, Math.max(first, next - most), next)));
  });
  useIdle(ready && first > 0 && last === rows.length && last - first < page, shown, () => {
    move(() => setMark(markAt(rows, first - few, last)));
  });
  useTrim(box, last - first > most + page && last === rows.length, () => {
    setMark(markAt(rows, rows.length - most));
  });

  const reveal = useCallback(
    (index: number) => setMark(markAt(rows, index - lead, Math.min(rows.length, index + page))),
    [rows],
  );
  const toEnd = useCallback(() => {
    setMark((now) => (now.shown === null ? now : markAt(rows, rows.length - begin)));
  }, [rows]);
  return { first, last, reveal, toEnd };
}

/** Calls `onNear` when the reader comes near an end of what is shown, and again when what is shown is another. */
function useNear(
  box: RefObject<HTMLElement | null>,
  end: RefObject<HTMLElement | null>,
  more: boolean,
  shown: readonly unknown[],
  onNear: () => void,
): void {
  const near = useEffectEvent(onNear);
  useEffect(() => {
    const element = end.current;
    if (!element || !more) {
      return;
    }
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && box.current && near(), {
      root: box.current,
      rootMargin: "800px 0px 800px 0px",
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, end, more, ...shown]);
}

/** Calls `onIdle` once the tab is in sight and the browser has nothing better to do, and again when what is shown is another. */
function useIdle(wanted: boolean, shown: readonly unknown[], onIdle: () => void): void {
  const idle = useEffectEvent(onIdle);
  useEffect(() => {
    if (!wanted) {
      return;
    }
    let stop = () => {};
    const unseen = whenSeen(() => {
      stop = whenIdle(idle);
    });
    return () => {
      unseen();
      stop();
    };
  }, [wanted, ...shown]);
}

/** Lets go of what lies far behind a reader who stays at the end. */
function useTrim(box: RefObject<HTMLElement | null>, tooMuch: boolean, onTrim: () => void): void {
  const trim = useEffectEvent(onTrim);
  useEffect(() => {
    const element = box.current;
    const atEnd = element && element.scrollHeight - element.scrollTop - element.clientHeight < 32;
    if (tooMuch && atEnd) {
      trim();
    }
  }, [box, tooMuch]);
}

/** Keeps a row that is in sight where it is, over a change of what stands above it. */
function useKeptPlace(box: RefObject<HTMLElement | null>) {
  const kept = useRef<HeldRow | null>(null);
  useLayoutEffect(() => {
    const held = kept.current;
    kept.current = null;
    bringBack(box.current, held);
  });
  return useCallback(
    (change: () => void) => {
      kept.current = holdRow(box.current);
      // At once: a reader who moves on before it is drawn would be brought back.
      flushSync(change);
    },
    [box],
  );
}
