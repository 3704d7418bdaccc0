import { useEffect, useRef, useState } from "react";

/** How long an answered card stays visible, in milliseconds. */
export const STAY = 4000;

export interface Shown<T> {
  item: T;
  /** Whether it no longer waits. */
  over: boolean;
}

/** Keeps the order of the shown items: ended ones stay in place, new ones are appended. */
function merge<T extends { id: string }>(shown: readonly Shown<T>[], waiting: readonly T[]): Shown<T>[] {
  const kept = shown.map(({ item }) => {
    const still = waiting.find(({ id }) => id === item.id);
    return still ? { item: still, over: false } : { item, over: true };
  });
  const known = new Set(shown.map(({ item }) => item.id));
  return [...kept, ...waiting.filter(({ id }) => !known.has(id)).map((item) => ({ item, over: false }))];
}

function same<T>(a: readonly Shown<T>[], b: readonly Shown<T>[]): boolean {
  return a.length === b.length && a.every((each, i) => each.item === b[i]?.item && each.over === b[i]?.over);
}

/** Returns the waiting items and, for a few seconds, those just answered. */
export function useLingering<T extends { id: string }>(waiting: readonly T[]): readonly Shown<T>[] {
  const [before, setShown] = useState<readonly Shown<T>[]>([]);
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  const merged = merge(before, waiting);
  const shown = same(before, merged) ? before : merged;
  if (shown !== before) {
    setShown(shown);
  }
  useEffect(() => {
    for (const { item, over } of shown) {
      const timer = timers.current.get(item.id);
      if (!over) {
        clearTimeout(timer);
        timers.current.delete(item.id);
      } else if (timer === undefined) {
        const remove = () => {
          timers.current.delete(item.id);
          setShown((all) => all.filter((each) => each.item.id !== item.id));
        };
        timers.current.set(item.id, setTimeout(remove, STAY));
      }
    }
  }, [shown]);
  useEffect(() => {
    const all = timers.current;
    return () => {
      for (const timer of all.values()) {
        clearTimeout(timer);
      }
      all.clear();
    };
  }, []);
  return shown;
}
