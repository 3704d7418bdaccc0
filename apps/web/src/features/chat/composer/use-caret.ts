import { type RefObject, useLayoutEffect, useRef, useState } from "react";

/** Where the caret of a box is. `put` moves it once the box has its next text. */
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
      // Until the next text is in the box, its caret is that of the text before.
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
