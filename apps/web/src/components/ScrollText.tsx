import { cx } from "./cx";

export interface ScrollTextProps {
  /** Its accessible name. */
  label: string;
  text: string;
  className?: string;
  "data-testid"?: string;
}

/** A long text, as in its file, in a box that scrolls, also with the keyboard. */
export function ScrollText({ label, text, className, ...rest }: ScrollTextProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
      tabIndex={0}
      dir="auto"
      className={cx(
        "mt-2 max-h-72 overflow-auto whitespace-pre-wrap break-words font-mono text-xs [overflow-wrap:anywhere]",
        className,
      )}
      {...rest}
    >
      {text}
    </section>
  );
}
