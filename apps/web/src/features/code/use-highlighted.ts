import { createContext, useContext, useEffect, useState } from "react";
import type { Token, Tokenizer } from "./highlight";

/** Fetches grammars as they are needed, and colors code. */
export interface Highlighting {
  /** The lines if this code was colored before, else null. */
  known(code: string, language: string): Token[][] | null;
  /** null when the language is not known or the code is too long to be worth it. */
  highlight(code: string, language: string): Promise<Token[][] | null>;
  /** Colors long code piece by piece; null when the language is not known. */
  tokenizer(language: string): Promise<Tokenizer | null>;
}

/** Longer code stays plain: colors are not worth a stalled page. */
const maxCode = 60_000;
const maxKept = 200;

/** Colors through the chunk of the highlighter, which is fetched at the first code. */
export function createHighlighting(load = () => import("./highlight")): Highlighting {
  const kept = new Map<string, Token[][]>();
  let engine: ReturnType<typeof load> | null = null;
  return {
    known: (code, language) => kept.get(`${language}\n${code}`) ?? null,
    async highlight(code, language) {
      if (!language || code.length > maxCode) {
        return null;
      }
      engine ??= load();
      const lines = await (await engine).tokenize(code, language);
      if (lines) {
        kept.set(`${language}\n${code}`, lines);
        const oldest = kept.keys().next().value;
        if (kept.size > maxKept && oldest !== undefined) {
          kept.delete(oldest);
        }
      }
      return lines;
    },
    async tokenizer(language) {
      if (!language) {
        return null;
      }
      engine ??= load();
      return (await engine).tokenizerFor(language);
    },
  };
}

export const HighlightingContext = createContext<Highlighting | null>(null);

/** How long code must stand still before it is colored, in milliseconds: code that streams changes every frame. */
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
    const timer = setTimeout(() => {
      highlighting.highlight(code, language).then(
        (lines) => current && lines && setFound({ code, language, lines }),
        () => {}, // a grammar that cannot be fetched leaves the code plain, which is readable
      );
    }, settle);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [highlighting, known, code, language]);
  if (known) {
    return known;
  }
  return found?.code === code && found.language === language ? found.lines : null;
}
