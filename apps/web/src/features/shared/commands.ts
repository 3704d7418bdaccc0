import { type ReactNode, useEffect, useRef } from "react";

/** An action with its name. */
export interface Command {
  id: string;
  title: string;
  icon: ReactNode;
  /** Further words that find it. */
  others?: string;
  /** The keys that do the same. */
  keys?: readonly string[];
  run: () => void;
}

const sources = new Set<() => readonly Command[]>();

/** Adds the page's actions to the palette while the component is mounted. `list` is called when the palette opens. */
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

/** Returns the actions of the current page. */
export function pageCommands(): Command[] {
  return [...sources].flatMap((source) => source());
}
