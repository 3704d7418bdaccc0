import { useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../../components/Button";
import { t } from "../../../i18n/chat";
import { LinkedText } from "../text/FileLink";
import { terminalText } from "../text/terminal-text";

/** How many lines of an output are shown, and how many more are shown on each request. */
const shownLines = 24;
const moreLines = 1000;

/** How many characters are shown at first, and how many more on each request: a line may be as long as a file. */
const shownChars = 8000;
const moreChars = 100_000;

export interface FoldedTextProps {
  text: string;
  /** Whether to show and follow the end instead of the beginning. */
  tail?: boolean;
}

/** Monospaced output. Long output is folded. */
export function FoldedText({ text, tail = false }: FoldedTextProps) {
  const [asked, setAsked] = useState(0);
  const box = useRef<HTMLPreElement>(null);
  const { shown, lines, chars } = useMemo(() => partOf(text, asked, tail), [text, asked, tail]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new piece of text moves the end
  useLayoutEffect(() => {
    if (tail && box.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [text, tail]);
  const label =
    lines > 0
      ? tail
        ? t("chat.tools.showEarlierLines", { hidden: lines })
        : t("chat.tools.showMoreLines", { hidden: lines })
      : t("chat.tools.showMoreCharacters", { hidden: chars });
  const more =
    lines + chars > 0 ? (
      <Button tone="quiet" className="-ml-3 text-xs" onClick={() => setAsked(asked + 1)}>
        {label}
      </Button>
    ) : null;
  return (
    <div>
      {tail ? more : null}
      <pre
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
        tabIndex={0}
        className="max-h-[32rem] overflow-auto whitespace-pre-wrap break-words font-mono text-[0.8125rem] text-muted leading-5 [overflow-wrap:anywhere]"
      >
        {tail ? shown : <LinkedText text={shown} />}
      </pre>
      {tail ? null : more}
    </div>
  );
}

/** Returns the shown part after so many requests for more, and how much is hidden then. */
function partOf(text: string, asked: number, tail: boolean) {
  const all = text.replace(/\n$/, "").split("\n");
  const count = shownLines + asked * moreLines;
  const hidden = Math.max(0, all.length - count);
  const part = (tail ? all.slice(hidden) : all.slice(0, all.length - hidden)).join("\n");
  const limit = shownChars + asked * moreChars;
  const cut = Math.max(0, part.length - limit);
  const kept = cut === 0 ? part : tail ? part.slice(cut) : part.slice(0, limit);
  return { shown: terminalText(kept), lines: hidden, chars: cut };
}
