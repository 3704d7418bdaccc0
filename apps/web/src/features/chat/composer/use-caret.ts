import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** Tracks the caret of a box. `put` moves it once the box has its next text. */
export function useCaret(area: RefObject<HTMLTextAreaElement | null>, text: string) {
  const [caret, setCaret] = useState({ at: 0 });
  const next = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (next.current !== null) {
      area.current?.setSelectionRange(next.current, next.current);
      next.current = null;
    }
  });
  return {
    at: Math.min(caret.at, text.length),
    read: () => {
      // Until the box has the next text, its caret belongs to the text before.
      if (next.current === null) {
        setCaret({ at: area.current?.selectionStart ?? 0 });
      }
    },
    put: (at: number) => {
      next.current = at;
      setCaret({ at });
    },
  };
}
