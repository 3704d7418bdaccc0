import { CopyButton } from "./CopyButton";
import { cx } from "./cx";

export interface CommandBoxProps {
  command: string;
  /** The name of the button that copies it. */
  label: string;
  className?: string;
  "data-testid"?: string;
}

/** A command to run on a machine. It wraps between words only, or within a word that is wider than the box. */
export function CommandBox({ command, label, className, ...rest }: CommandBoxProps) {
  return (
    <div className={cx("flex items-center gap-1 rounded-md border border-line py-1 pr-1 pl-3", className)}>
      <code dir="ltr" className="min-w-0 flex-1 py-1.5 font-mono text-ink text-sm" {...rest}>
        {command.split(" ").flatMap((word, i) => [
          i > 0 ? " " : "",
          // biome-ignore lint/suspicious/noArrayIndexKey: words of a command have no other key, and never move
          <span key={i} className="inline-block max-w-full [overflow-wrap:anywhere]">
            {word}
          </span>,
        ])}
      </code>
      <CopyButton text={command} label={label} />
    </div>
  );
}
