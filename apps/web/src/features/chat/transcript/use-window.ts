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

/** How many rows are shown at first: a screenful, because the reader waits for them. */
const begin = 12;

/** How many rows are added at a time while the browser is idle, until there is a page of them. */
const few = 4;
const page = 80;

/** How many rows are added each time the reader comes near an end: as many as a slow phone renders instantly. */
const step = 40;

/** How many rows are shown before one that is scrolled into view. */
const lead = 20;

/** The maximum number of rows in the page: more of them make every change slow. */
const most = 600;

/** Entries beyond the list, which the host has and this page has not loaded. */
export interface Beyond {
  state: "none" | "some" | "loading";
  load(): void;
}

/** The first shown row, identified by its key, because a list that grows at its front moves it. */
interface Mark {
  key: string | undefined;
  /** How many rows followed it, for when it is gone. */
  left: number;
  /** How many rows are shown from it on; null shows all, including new ones. */
  shown: number | null;
}

/** Returns the index of the first row to show. */
export function firstShown(rows: readonly { key: string }[], { key, left }: Pick<Mark, "key" | "left">): number {
  if (key === undefined) {
    return 0;
  }
  const at = rows.findIndex((row) => row.key === key);
  return at >= 0 ? at : Math.max(0, rows.length - Math.max(left, page));
}

type Rows = readonly { key: string }[];

/** Returns the mark for the rows from an index to the end, up to the maximum. */
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
 * Shows a part of a long list: its end, and more as the reader scrolls to `top` or `bottom`; rows far behind the reader
 * are removed. At the top of the list it loads earlier entries. Visible rows stay in place. `reveal` shows the rows
 * around an index, `toEnd` the last ones. The list grows by itself only once it is `ready`: rows rendered earlier would
 * be rendered twice.
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
    // Marked first, so that added rows do not move the list.
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

/** Calls `onNear` when the reader comes near an end of the shown rows, and again when these change. */
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

/** Calls `onIdle` once the tab is visible and the browser idle, and again when the shown rows change. */
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

/** Removes the rows far behind a reader who stays at the end. */
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

/** Keeps a visible row in place while the content above it changes. */
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
      // Synchronously: a reader who scrolls on before the rendering would be moved back.
      flushSync(change);
    },
    [box],
  );
}
