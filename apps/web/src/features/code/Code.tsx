import { Fragment, memo, useMemo } from "react";
import { cx } from "../../components/cx";
import { useGrowing } from "../shared/use-growing";
import type { Token } from "./engine";
import { useHighlighted } from "./use-highlighted";
import "./code.css";

/** Returns the color of a diff's line by its first characters. */
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

/** A diff. Added and removed lines differ by background and by sign. */
function Diff({ code, className }: { code: string; className: string | undefined }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
    <pre tabIndex={0} className={cx("font-mono text-[0.8125rem] leading-5", className, "px-0!")}>
      <code className="block min-w-fit [overflow-wrap:anywhere]">
        {code.split("\n").map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other key
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

/** How many lines are rendered at once: more take longer than a frame on a slow phone. */
const partLines = 50;

/** Splits text into parts of whole lines. All but the last stay the same while it grows. */
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

/** Code without a frame. Long code is rendered one part at a time. */
export function Code({ code, language, className }: CodeProps) {
  const lines = useHighlighted(code, language);
  const parts = useMemo(() => partsOf(code), [code]);
  const colored = useGrowing(lines ? parts.length : 0);
  if (language === "diff") {
    return <Diff code={code} className={className} />;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
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
  /** Whether it is the only part. */
  only: boolean;
  /** The highlighted lines of all parts. */
  lines: Token[][] | null;
  /** The index of the first line of this part. */
  from: number;
}

const Part = memo(function Part({ text, only, lines, from }: PartProps) {
  const shown = lines
    ? lines.slice(from, from + partLines).map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other key
        <Fragment key={i}>
          {line.map((token, j) =>
            token.className ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: neither have the tokens of a line
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
