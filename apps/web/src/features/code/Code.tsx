import { Fragment, memo, useMemo } from "react";
import { cx } from "../../components/cx";
import { useGrowing } from "../shared/use-growing";
import type { Token } from "./engine";
import { useHighlighted } from "./use-highlighted";
import "./code.css";

/** By the first characters of a line of a diff. */
function diffTone(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) {
    return "font-medium text-muted";
  }
  if (line.startsWith("@@")) {
    return "text-faint";
  }
  if (line.startsWith("+")) {
    return "bg-accent-soft text-accent";
  }
  if (line.startsWith("-")) {
    return "bg-danger-soft text-danger";
  }
  return "text-muted";
}

/** A diff: what goes and what comes is told by its ground and by its sign. */
function Diff({ code, className }: { code: string; className: string | undefined }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
    <pre tabIndex={0} className={cx("font-mono text-[0.8125rem] leading-5", className, "px-0!")}>
      <code className="block min-w-fit [overflow-wrap:anywhere]">
        {code.split("\n").map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
          <span key={i} className={cx("block px-3", diffTone(line))}>
            {`${line}\n`}
          </span>
        ))}
      </code>
    </pre>
  );
}

export interface CodeProps {
  code: string;
  language: string;
  className?: string;
}

/** Lines that are drawn at once: more than these take longer than a frame on a slow phone. */
const partLines = 50;

/** Text in parts of whole lines. Those before the last stay as they are while it grows. */
export function partsOf(code: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let count = 0;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) {
    if (++count % partLines === 0) {
      parts.push(code.slice(start, at + 1));
      start = at + 1;
    }
  }
  return [...parts, code.slice(start)];
}

/** Code without a frame. Of long code, one part is drawn at a time. */
export function Code({ code, language, className }: CodeProps) {
  const lines = useHighlighted(code, language);
  const parts = useMemo(() => partsOf(code), [code]);
  const colored = useGrowing(lines ? parts.length : 0);
  if (language === "diff") {
    return <Diff code={code} className={className} />;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
    <pre tabIndex={0} className={cx("font-mono text-[0.8125rem] leading-5", className)}>
      <code>
        {parts.map((text, i) => (
          <Part
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever appended
            key={i}
            text={text}
            only={parts.length === 1}
            lines={lines && i < colored ? lines : null}
            from={i * partLines}
          />
        ))}
      </code>
    </pre>
  );
}

interface PartProps {
  text: string;
  /** There is no other. */
  only: boolean;
  /** The colored lines of all parts. */
  lines: Token[][] | null;
  /** The first line of this one. */
  from: number;
}

const Part = memo(function Part({ text, only, lines, from }: PartProps) {
  const shown = lines
    ? lines.slice(from, from + partLines).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
        <Fragment key={i}>
          {line.map((token, j) =>
            token.className ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: nor have the tokens of a line
              <span key={j} className={token.className}>
                {token.text}
              </span>
            ) : (
              token.text
            ),
          )}
          {from + i < lines.length - 1 ? "\n" : null}
        </Fragment>
      ))
    : text;
  return only ? shown : <span className="block">{shown}</span>;
});
