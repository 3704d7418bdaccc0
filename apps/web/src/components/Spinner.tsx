import { cx } from "./cx";

/** A turning ring. Without a label it is decorative. */
export function Spinner({ label, className }: { label?: string; className?: string }) {
  const ring = (
    <span
      aria-hidden="true"
      className={cx(
        "inline-block size-[1em] shrink-0 animate-spin rounded-full border-2 border-current border-r-transparent opacity-80",
        className,
      )}
    />
  );
  if (!label) {
    return ring;
  }
  return (
    <span role="status" className="inline-flex">
      {ring}
      <span className="sr-only">{label}</span>
    </span>
  );
}
