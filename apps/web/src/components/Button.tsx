import type { ButtonHTMLAttributes, MouseEvent, Ref } from "react";
import { cx } from "./cx";
import { Spinner } from "./Spinner";

export type ButtonTone = "primary" | "secondary" | "quiet" | "danger";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: ButtonTone;
  /** Shows a spinner and ignores clicks. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

const tones: Record<ButtonTone, string> = {
  primary: "bg-accent text-on-accent border-transparent hover:bg-accent-hover",
  secondary: "bg-surface text-ink border-line hover:border-line-strong",
  quiet: "bg-transparent text-muted border-transparent hover:bg-sunken hover:text-ink",
  danger: "bg-surface text-danger border-danger-line hover:bg-danger-soft",
};

const hold = (event: MouseEvent) => event.preventDefault();

export function Button({ tone = "secondary", busy = false, className, children, ...rest }: ButtonProps) {
  // A busy button is not disabled, because it would lose the focus.
  const held = busy ? { "aria-busy": true, "aria-disabled": true, onClick: hold } : null;
  return (
    <button
      type="button"
      className={cx(
        "touchable inline-flex select-none items-center justify-center gap-2 whitespace-nowrap rounded-md border px-3.5 py-1.5 font-medium font-sans text-sm tracking-normal transition-colors disabled:cursor-not-allowed disabled:opacity-55 aria-disabled:cursor-not-allowed aria-disabled:opacity-55",
        tones[tone],
        className,
      )}
      {...rest}
      {...held}
    >
      {busy ? <Spinner /> : null}
      {children}
    </button>
  );
}

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Its accessible name, also shown as a tooltip. */
  label: string;
}

export function IconButton({ label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={cx(
        "touchable inline-grid aspect-square shrink-0 place-items-center rounded-md text-muted transition-colors hover:bg-sunken hover:text-ink disabled:cursor-not-allowed disabled:opacity-55",
        className,
      )}
      {...rest}
    />
  );
}
