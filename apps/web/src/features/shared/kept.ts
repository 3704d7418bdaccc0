// What a page remembers for the way back: for each entry of the browser's history, in this tab, also over a reload.

import { useLocation } from "@tanstack/react-router";
import { type RefObject, useLayoutEffect, useState } from "react";

const storageName = "scorel.kept";

/** How much is remembered; the oldest is forgotten. */
const most = 100;

type Kept = [key: string, value: unknown][];

function all(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(storageName) ?? "[]") as Kept;
  } catch {
    return [];
  }
}

/** What was kept under a key; undefined where nothing was. */
export function readKept<T>(key: string): T | undefined {
  return all().find(([known]) => known === key)?.[1] as T | undefined;
}

/** Keeps a value; undefined forgets it. */
export function keep(key: string, value: unknown): void {
  const others = all().filter(([known]) => known !== key);
  try {
    const next = value === undefined ? others : [...others, [key, value]];
    sessionStorage.setItem(storageName, JSON.stringify(next.slice(-most)));
  } catch {} // storage is full or closed: the way back begins at the top
}

/** The key of something at the present entry of the history. */
export function useEntryKey(name: string): string {
  return `${useLocation({ select: ({ state }) => state.__TSR_key ?? "" })} ${name}`;
}

/** A state that is as it was when people come back. */
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

/** Keeps where a box was scrolled to. What it holds may come later: the place is found when it is there. */
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
    // Whoever scrolls goes elsewhere.
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

/** Keeps which page is at which place of the history. Used once, around all pages. */
export function useKeptPath(): void {
  const path = useLocation({ select: ({ pathname }) => pathname });
  const index = useLocation({ select: ({ state }) => state.__TSR_index });
  useLayoutEffect(() => keep(pathAt(index), path), [path, index]);
}

/** Tells whether the browser's Back leads to a path. */
export function useIsBehind(): (path: string) => boolean {
  const index = useLocation({ select: ({ state }) => state.__TSR_index });
  return (path) => index > 0 && readKept(pathAt(index - 1)) === path;
}
