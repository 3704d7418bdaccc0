import { useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";

/** How many lines of an output are shown before it is asked for all of it. */
const shownLines = 24;

export interface FoldedTextProps {
  text: string;
  /** Shows the end instead of the beginning, and follows it. */
  tail?: boolean;
}

/** Output in mono. A long one is folded. */
export function FoldedText({ text, tail = false }: FoldedTextProps) {
  const [all, setAll] = useState(false);
  const box = useRef<HTMLPreElement>(null);
  const lines = text.replace(/\n$/, "").split("\n");
  const hidden = all ? 0 : Math.max(0, lines.length - shownLines);
  const shown = hidden === 0 ? lines : tail ? lines.slice(hidden) : lines.slice(0, shownLines);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new piece of text moves the end
  useLayoutEffect(() => {
    if (tail && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, tail]);
  const more =
    hidden > 0 ? (
      <Button tone="quiet" className="-ml-3 text-xs" onClick={() => setAll(true)}>
        Show {hidden} {tail ? "earlier" : "more"} lines
      </Button>
    ) : null;
  return (
    <div>
      {tail ? more : null}
      <pre
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
        tabIndex={0}
        className="max-h-[32rem] overflow-auto whitespace-pre-wrap break-words font-mono text-[0.8125rem] text-muted leading-5"
      >
        {shown.join("\n")}
      </pre>
      {tail ? null : more}
    </div>
  );
}
