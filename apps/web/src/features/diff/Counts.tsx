import { t } from "../../i18n/diff";
import type { DiffFile } from "./model";

/** The counts of a file, such as "+3 −1". */
export function Counts({ file }: { file: Pick<DiffFile, "added" | "removed"> }) {
  const { added, removed } = file;
  if (added + removed === 0) {
    return null;
  }
  return (
    <span
      role="img"
      data-testid="diff-counts"
      aria-label={t("diff.counts", { added, removed })}
      className="shrink-0 font-mono text-xs tabular-nums"
    >
      {added > 0 ? <span className="text-accent">+{added}</span> : null}
      {added > 0 && removed > 0 ? " " : null}
      {removed > 0 ? <span className="text-danger">−{removed}</span> : null}
    </span>
  );
}
