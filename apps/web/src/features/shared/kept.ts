// What a page restores on the way back: by entry of the browser's history, in this tab, also after a reload.

import { type RefObject, useLayoutEffect, useState } from "react";
import { useEntry } from "../route/entry";

const storageName = "scorel.kept";

/** How many values are stored; the oldest is dropped. */
const most = 100;

type Kept = [key: string, value: unknown][];

function all(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(storageName) ?? "[]") as Kept;
  } catch {
    return [];
  }
}

/** Returns the value stored under a key; undefined if there is none. */
export function readKept<T>(key: string): T | undefined {
  return all().find(([known]) => known === key)?.[1] as T | undefined;
}

/** Stores a value; undefined removes it. */
export function keep(key: string, value: unknown): void {
  const others = all().filter(([known]) => known !== key);
  try {
    const next = value === undefined ? others : [...others, [key, value]];
    sessionStorage.setItem(storageName, JSON.stringify(next.slice(-most)));
  } catch {} // storage is full or unavailable: the page then begins at the top
}

/** Returns the key of a value for the current entry of the history. */
export function useEntryKey(name: string): string {
  return `${useEntry().state.key} ${name}`;
}

/** A state that is restored when people come back. */
export function useKeptState<T>(name: string, initial: T): [T, (value: T) => void] {
  const key = useEntryKey(name);
  const [value, setValue] = useState(() => readKept<T>(key) ?? initial);
  return [
    value,
    (next) => {
      setValue(next);
      keep(key, next);
    },
  ];
}

/**
 * Restores the scroll position of a box. Its contents may arrive later: the position is restored once they are there.
 */
export function useKeptScroll(box: RefObject<HTMLElement | null>, name: string): void {
  const key = useEntryKey(`scroll ${name}`);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return;
    }
    let wanted = readKept<number>(key) ?? 0;
    let top = element.scrollTop;
    const restore = () => {
      if (wanted > 0) {
        element.scrollTop = wanted;
        top = wanted;
        wanted = Math.abs(element.scrollTop - wanted) < 2 ? 0 : wanted;
      }
    };
    // A reader who scrolls cancels the restoring.
    const giveUp = () => {
      wanted = 0;
    };
    const onScroll = () => {
      top = wanted > 0 ? wanted : element.scrollTop;
    };
    const save = () => keep(key, top > 0 ? top : undefined);
    restore();
    const observer = new ResizeObserver(restore);
    for (const child of element.children) {
      observer.observe(child);
    }
    const gone = new AbortController();
    const { signal } = gone;
    element.addEventListener("scroll", onScroll, { passive: true, signal });
    for (const type of ["wheel", "touchstart", "pointerdown", "keydown"]) {
      element.addEventListener(type, giveUp, { passive: true, signal });
    }
    window.addEventListener("pagehide", save, { signal });
    return () => {
      save();
      gone.abort();
      observer.disconnect();
    };
  }, [box, key]);
}

const pathAt = (index: number) => `path ${index}`;

/** Stores which page is at which entry of the history. Used once, around all pages. */
export function useKeptPath(): void {
  const { path, state } = useEntry();
  const { index } = state;
  useLayoutEffect(() => keep(pathAt(index), path), [path, index]);
}

/** Returns a function that reports whether the browser's Back leads to a path. */
export function useIsBehind(): (path: string) => boolean {
  const { index } = useEntry().state;
  return (path) => index > 0 && readKept(pathAt(index - 1)) === path;
}
