import type { RefObject } from "react";
import type { SessionState } from "../../../api/contract";
import { t } from "../../../i18n/chat";

export interface EarlierProps {
  ref: RefObject<HTMLDivElement | null>;
  /** The number of loaded rows that are not shown. */
  hidden: number;
  /** Whether the host has entries before the loaded ones. */
  earlier: SessionState["earlier"];
  /** Whether the rows are a stored copy, which nothing can be added to. */
  saved: boolean;
}

/** The line above the first shown row; nothing where the session begins. */
export function Earlier({ ref, hidden, earlier, saved }: EarlierProps) {
  if (hidden === 0 && earlier === "none") {
    return null;
  }
  return (
    <div ref={ref} data-testid="earlier" className="caption py-3 text-center text-faint">
      {earlier === "none"
        ? t("chat.transcript.earlierEntries", { first: hidden })
        : saved
          ? t("chat.transcript.earlierNotSaved")
          : t("chat.transcript.earlierEntriesTitle")}
    </div>
  );
}
