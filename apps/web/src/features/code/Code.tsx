import { Fragment } from "react";
import { cx } from "../../components/cx";
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

/** Code without a frame. */
export function Code({ code, language, className }: CodeProps) {
  const lines = useHighlighted(code, language);
  if (language === "diff") {
    return <Diff code={code} className={className} />;
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable with the keyboard
    <pre tabIndex={0} className={cx("font-mono text-[0.8125rem] leading-5", className)}>
      <code>
        {lines
          ? lines.map((line, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
              <Fragment key={i}>
                {i > 0 ? "\n" : null}
                {line.map((token, j) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: nor have the tokens of a line
                  <span key={j} className={token.className}>
                    {token.text}
                  </span>
                ))}
              </Fragment>
            ))
          : code}
      </code>
    </pre>
  );
}
