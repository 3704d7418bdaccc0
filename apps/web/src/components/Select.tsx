import type { SelectHTMLAttributes } from "react";
import { cx } from "./cx";
import { ChevronDownIcon } from "./icons";

export interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  /** Its accessible name, also shown as a tooltip. */
  label: string;
  options: { value: string; label: string; disabled?: boolean }[];
}

/** The platform's own menu with our style, which works well on every phone. */
export function Select({ label, options, className, ...rest }: SelectProps) {
  return (
    <span className={cx("relative inline-flex min-w-0 items-center", className)}>
      <select
        aria-label={label}
        title={label}
        className="touchable w-full min-w-11 [field-sizing:content] cursor-pointer appearance-none truncate rounded-md border border-line bg-surface py-1 pr-7 pl-2.5 max-sm:pr-6 max-sm:pl-2 text-muted text-sm hover:border-line-strong hover:text-ink disabled:cursor-not-allowed disabled:opacity-55"
        {...rest}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronDownIcon className="pointer-events-none absolute right-2 text-faint max-sm:right-1.5" />
    </span>
  );
}
