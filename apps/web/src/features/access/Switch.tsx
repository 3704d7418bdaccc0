import { useId } from "react";
import { cx } from "../../components/cx";

export interface SwitchProps {
  label: string;
  /** One line on what it allows, or why it cannot be changed. */
  hint: string;
  on: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
  testId: string;
}

/**
 * A row with a switch; the whole row can be tapped. A disabled switch can have the focus, because its hint gives the
 * reason.
 */
export function Switch({ label, hint, on, disabled = false, onChange, testId }: SwitchProps) {
  const id = useId();
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      aria-labelledby={`${id}-label`}
      aria-describedby={`${id}-hint`}
      data-testid={testId}
      aria-disabled={disabled}
      onClick={() => !disabled && onChange(!on)}
      className="touchable flex w-full cursor-pointer items-center gap-4 py-2 text-left aria-disabled:cursor-not-allowed"
    >
      <span className="min-w-0 flex-1">
        <span id={`${id}-label`} className="block font-medium text-sm">
          {label}
        </span>
        <span id={`${id}-hint`} className="block text-muted text-sm">
          {hint}
        </span>
      </span>
      <span
        aria-hidden="true"
        className={cx(
          "inline-flex h-6 w-10 shrink-0 items-center rounded-full border p-0.5 transition-colors",
          on ? "justify-end border-accent bg-accent" : "justify-start border-line-strong bg-sunken",
          disabled && "opacity-55",
        )}
      >
        <span className={cx("size-4.5 rounded-full", on ? "bg-on-accent" : "bg-faint")} />
      </span>
    </button>
  );
}
