import { lazy, useMemo, useState } from "react";
import type { Host } from "../../api/contract";
import type { SessionEntry } from "../../api/types";
import { t } from "../../i18n/session";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";

const ContextSheet = lazy(chunk(() => import("./ContextSheet")));

export interface ContextMeterProps {
  host: Host;
  sessionId: string;
  entries: readonly SessionEntry[];
  /** How many tokens the session's model accepts; absent if unknown. */
  contextWindow: number | undefined;
}

/** How full the context window is, by the model's last count. It opens the details. */
export function ContextMeter({ host, sessionId, entries, contextWindow }: ContextMeterProps) {
  const [open, setOpen] = useState(false);
  const used = useMemo(() => tokensUsed(entries), [entries]);
  if (!contextWindow || used === 0) {
    return null;
  }
  const percent = Math.min(100, Math.round((used / contextWindow) * 100));
  return (
    <>
      <button
        type="button"
        data-testid="context-meter"
        aria-haspopup="dialog"
        title={t("session.contextMeter.title")}
        onClick={() => setOpen(true)}
        className="touchable inline-flex shrink-0 items-center gap-1.5 rounded-md px-2 text-faint text-xs tabular-nums hover:bg-sunken hover:text-ink"
      >
        <span aria-hidden="true" className="h-1.5 w-8 overflow-hidden rounded-full bg-line">
          <span
            className={`block h-full rounded-full ${percent < 80 ? "bg-accent" : "bg-warn"}`}
            style={{ width: `${percent}%` }}
          />
        </span>
        {t("session.contextMeter.used", { percent })}
      </button>
      {open ? (
        <LazyPart onClose={() => setOpen(false)}>
          <ContextSheet host={host} sessionId={sessionId} onClose={() => setOpen(false)} />
        </LazyPart>
      ) : null}
    </>
  );
}

/**
 * Returns the tokens of the last call on the path to the last entry; 0 after a summary, whose size no call has reported
 * yet.
 */
export function tokensUsed(entries: readonly SessionEntry[]): number {
  let wanted: string | null | undefined = entries.at(-1)?.id;
  for (let i = entries.length - 1; i >= 0 && wanted; i--) {
    const entry = entries[i];
    if (!entry || entry.id !== wanted) {
      continue;
    }
    if (entry.type === "compaction") {
      return 0;
    }
    const used =
      entry.type === "message" && entry.message.role === "assistant" ? (entry.message.usage?.totalTokens ?? 0) : 0;
    if (used > 0) {
      return used;
    }
    wanted = entry.parentId;
  }
  return 0;
}
