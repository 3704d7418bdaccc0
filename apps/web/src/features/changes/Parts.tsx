import { cx } from "../../components/cx";

export interface PartsProps<T extends string> {
  /** The accessible name of the group. */
  label: string;
  parts: readonly { id: T; text: string }[];
  chosen: T;
  onChoose: (part: T) => void;
  className?: string;
}

/** A group of buttons that selects what is shown below them. */
export function Parts<T extends string>({ label, parts, chosen, onChoose, className }: PartsProps<T>) {
  return (
    <fieldset className={cx("flex gap-1 overflow-x-auto", className)}>
      <legend className="sr-only">{label}</legend>
      {parts.map(({ id, text }) => (
        <button
          key={id}
          type="button"
          aria-pressed={chosen === id}
          data-testid={`part-${id}`}
          onClick={() => onChoose(id)}
          className={cx(
            "touchable shrink-0 rounded-md px-3 py-1 font-medium text-sm",
            chosen === id ? "bg-sunken text-ink" : "text-muted hover:text-ink",
          )}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
