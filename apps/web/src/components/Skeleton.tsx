import { cx } from "./cx";

/** Grey bars in place of rows that are loading. */
export function Skeleton({ rows = 3, label, className }: { rows?: number; label: string; className?: string }) {
  return (
    <div role="status" aria-label={label} className={cx("space-y-3 py-2", className)}>
      {Array.from({ length: rows }, (_, i) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the bars are all alike and never move
          key={i}
          className={cx("pulse-dot h-4 rounded-sm bg-sunken", i % 3 === 2 ? "w-1/2" : i % 3 === 1 ? "w-5/6" : "w-full")}
        />
      ))}
    </div>
  );
}
