import { type ReactNode, useEffect, useRef } from "react";

/** Something that can be done, by its name. */
export interface Command {
  id: string;
  title: string;
  icon: ReactNode;
  /** What else finds it. */
  others?: string;
  /** Keys that do the same. */
  keys?: readonly string[];
  run: () => void;
}

const sources = new Set<() => readonly Command[]>();

/** Offers what the page can do in the palette while the component stands. It is asked when the palette opens. */
export function usePageCommands(list: () => readonly Command[]): void {
  const latest = useRef(list);
  useEffect(() => {
    latest.current = list;
  });
  useEffect(() => {
    const source = () => latest.current();
    sources.add(source);
    return () => {
      sources.delete(source);
    };
  }, []);
}

/** What the present page can do. */
export function pageCommands(): Command[] {
  return [...sources].flatMap((source) => source());
}
