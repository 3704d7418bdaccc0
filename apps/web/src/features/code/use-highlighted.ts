import { createContext, useContext, useEffect, useState } from "react";
import { whenSeen } from "../shared/when-seen";
import type { Coloring, Engine, Run, Token } from "./engine";
import { connectEngine } from "./remote";

/** Loads grammars on demand, and highlights code. */
export interface Highlighting {
  /** Returns the lines if this code was highlighted before, otherwise null. */
  known(code: string, language: string): Token[][] | null;
  /** Returns null for an unknown language or code that is too long. */
  highlight(code: string, language: string): Promise<Token[][] | null>;
  /** Highlights long code run by run; the result can be continued from. */
  color(runs: readonly Run[], language: string, coloring: Coloring): Promise<unknown>;
}

/** Longer code stays plain, so that the page does not stall. */
const maxCode = 60_000;
const maxKept = 200;

/** Highlights with the worker, which starts at the first code. */
export function createHighlighting(connect: () => Engine | null = connectEngine): Highlighting {
  const kept = new Map<string, Token[][]>();
  return {
    known: (code, language) => kept.get(`${language}\n${code}`) ?? null,
    async highlight(code, language) {
      const engine = language && code.length <= maxCode ? connect() : null;
      const lines = engine && (await engine.tokenize(code, language));
      if (lines) {
        kept.set(`${language}\n${code}`, lines);
        const oldest = kept.keys().next().value;
        if (kept.size > maxKept && oldest !== undefined) {
          kept.delete(oldest);
        }
      }
      return lines;
    },
    color: async (runs, language, coloring) => (language ? connect()?.colorRuns(runs, language, coloring) : undefined),
  };
}

export const HighlightingContext = createContext<Highlighting | null>(null);

/** How long code must stay unchanged before it is highlighted, in milliseconds: streaming code changes every frame. */
const settle = 150;

export function useHighlighted(code: string, language: string): Token[][] | null {
  const highlighting = useContext(HighlightingContext);
  const known = highlighting?.known(code, language) ?? null;
  const [found, setFound] = useState<{ code: string; language: string; lines: Token[][] } | null>(null);
  useEffect(() => {
    if (!highlighting || known) {
      return;
    }
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const unseen = whenSeen(() => {
      timer = setTimeout(() => {
        highlighting.highlight(code, language).then(
          (lines) => current && lines && setFound({ code, language, lines }),
          () => {}, // without its grammar the code stays plain, which is readable
        );
      }, settle);
    });
    return () => {
      current = false;
      unseen();
      clearTimeout(timer);
    };
  }, [highlighting, known, code, language]);
  if (known) {
    return known;
  }
  return found?.code === code && found.language === language ? found.lines : null;
}
