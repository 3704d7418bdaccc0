import type { ReactNode } from "react";
import type { SessionState } from "../../api/contract";
import type { Live } from "../../api/types";
import { Dot, type Tone } from "../../components/Badge";
import { cx } from "../../components/cx";
import { ConnectionLink } from "../shared/ConnectionLink";

export interface SessionStripProps {
  status: SessionState["status"];
  label: string;
  /** What is wrong with the session's file. */
  damaged: string | undefined;
  /** What the host does to the session between turns. */
  work: Live["work"];
  /** Stands at its right end, always. */
  children?: ReactNode;
}

/** One line above the composer that says why the transcript may be behind, when it may, and what holds in the session. */
export function SessionStrip({ status, label, damaged, work, children }: SessionStripProps) {
  const said = sayStatus(status, label, damaged) ?? sayWork(work);
  return (
    <div className="safe-x mx-auto flex w-full max-w-3xl shrink-0 flex-wrap items-center justify-end gap-x-2">
      <div role="status" className={cx("min-w-0 flex-1", said && "max-sm:basis-full")}>
        {said ? (
          <p
            data-testid="session-strip"
            data-status={status}
            className="flex items-center gap-2 py-1.5 text-muted text-sm"
          >
            <Dot tone={said.tone} live={status === "reconnecting" || said.tone === "accent"} />
            <span className="min-w-0">{said.text}</span>
            {damaged || status !== "offline" ? null : (
              <ConnectionLink className="ml-auto font-medium underline underline-offset-2">Find out why</ConnectionLink>
            )}
          </p>
        ) : null}
      </div>
      {children}
    </div>
  );
}

function sayWork(work: Live["work"]): { tone: Tone; text: string } | null {
  switch (work?.kind) {
    case undefined:
      return null;
    case "compaction":
      return { tone: "accent", text: "Summing up the older part. What you send waits for it." };
    default:
      return { tone: "accent", text: "Summing up the branch that is left. What you send waits for it." };
  }
}

function sayStatus(status: string, label: string, damaged: string | undefined): { tone: Tone; text: string } | null {
  if (damaged) return { tone: "danger", text: damaged };
  switch (status) {
    case "reconnecting":
      return { tone: "warn", text: `Reconnecting to ${label}. What you send waits here and goes out by itself.` };
    case "offline":
      return { tone: "neutral", text: `${label} is offline. What you send waits here and goes out when it is back.` };
    default:
      return null;
  }
}
