import { type InputHTMLAttributes, type ReactNode, useId } from "react";
import { cx } from "./cx";

export interface TextFieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  hint?: string;
  /** One sentence: what is wrong and what to do. */
  error?: ReactNode;
  mono?: boolean;
}

export function TextField({ label, hint, error, mono, className, ...rest }: TextFieldProps) {
  const id = useId();
  const note = error ?? hint;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block font-medium text-sm">
        {label}
      </label>
      <input
        id={id}
        aria-invalid={error ? true : undefined}
        aria-describedby={note ? `${id}-note` : undefined}
        className={cx(
          "touchable block w-full rounded-md border bg-surface px-3 py-1.5 text-base placeholder:text-faint sm:text-sm",
          error ? "border-danger" : "border-line-strong",
          mono && "font-mono",
        )}
        {...rest}
      />
      {note ? (
        <p
          id={`${id}-note`}
          role={error ? "alert" : undefined}
          className={cx("mt-1.5 text-sm", error ? "text-danger" : "text-muted")}
        >
          {note}
        </p>
      ) : null}
    </div>
  );
}
