import { useState } from "react";
import type { Process, ProcessRecord } from "../../api/types";
import { Badge, Dot } from "../../components/Badge";
import { cx } from "../../components/cx";
import { ChevronRightIcon } from "../../components/icons";
import { useProcesses } from "./live-context";
import { ProcessLog } from "./ProcessLog";
import { figures, fraction } from "./progress";
import { Repeats } from "./Repeats";

export interface OperationsProps {
  /** The call that they serve. */
  id: string;
  records: readonly ProcessRecord[];
  /** The card is open. */
  open: boolean;
}

/** What a call tells people while it runs, and the logs of what it told. */
export function Operations({ id, records, open }: OperationsProps) {
  const running = useProcesses().filter((process) => process.toolCallId === id);
  if (running.length === 0 && (!open || records.length === 0)) return null;
  return (
    <div className="divide-y divide-line border-line border-t">
      {running.map((process) => (
        <Running key={process.last.operationId} process={process} open={open} />
      ))}
      {open ? records.map((record) => <Ended key={record.operationId} record={record} />) : null}
    </div>
  );
}

function Running({ process, open }: { process: Process; open: boolean }) {
  const { last } = process;
  const done = fraction(last);
  const bad = last.level === "error" || last.status === "failed";
  return (
    <div data-testid="operation" data-status={last.status}>
      <div className="flex items-baseline gap-2 px-3 py-1.5 text-[0.8125rem]">
        <Dot tone={bad ? "danger" : "accent"} live={last.status === "running"} />
        {last.stage ? <span className="shrink-0 text-faint">{last.stage}</span> : null}
        <span className={cx("min-w-0 flex-1 truncate", bad ? "text-danger" : "text-muted")}>{last.message}</span>
        <Repeats n={last.repeats} />
        <span className="shrink-0 text-faint tabular-nums">{figures(last)}</span>
      </div>
      {done === null ? null : (
        <div
          role="progressbar"
          aria-label={last.message || last.source}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(done * 100)}
          className="h-0.5 bg-line"
        >
          <div className="h-full bg-accent transition-[width]" style={{ width: `${done * 100}%` }} />
        </div>
      )}
      {open ? (
        <Folded title="Log so far">
          <ProcessLog logRef={process.processLogRef} startedAt={process.startedAt} lines={null} omitted={0} />
        </Folded>
      ) : null}
    </div>
  );
}

const words: Record<string, string> = { completed: "done" };

function Ended({ record }: { record: ProcessRecord }) {
  const { lines, omitted = 0 } = record;
  const steps = lines.length + omitted;
  const failed = record.status === "failed";
  return (
    <div data-testid="operation" data-status={record.status}>
      <Folded
        title={`${record.source}: ${steps} ${steps === 1 ? "step" : "steps"}`}
        note={lines.at(-1)?.message}
        badge={<Badge tone={failed ? "danger" : "neutral"}>{words[record.status] ?? record.status}</Badge>}
      >
        <ProcessLog logRef={record.processLogRef} startedAt={record.startedAt} lines={lines} omitted={omitted} />
      </Folded>
    </div>
  );
}

interface FoldedProps {
  title: string;
  note?: string | undefined;
  badge?: React.ReactNode;
  children: React.ReactNode;
}

function Folded({ title, note, badge, children }: FoldedProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="touchable flex w-full items-center gap-2 px-3 py-1 text-left text-[0.8125rem] hover:bg-sunken"
      >
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
        <span className="shrink-0 text-muted">{title}</span>
        <span className="min-w-0 flex-1 truncate text-faint">{note}</span>
        {badge}
      </button>
      {open ? <div className="px-3 pt-1 pb-2.5">{children}</div> : null}
    </>
  );
}
