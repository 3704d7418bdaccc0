import { useState } from "react";
import type { Process, ProcessRecord } from "../../../api/types";
import { Badge, Dot } from "../../../components/Badge";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useProcesses } from "../context/live-context";
import { FollowedLog, ProcessLog } from "./ProcessLog";
import { figures, fraction } from "./progress";
import { Repeats } from "./Repeats";
import { statusText } from "./status-text";

export interface OperationsProps {
  /** The id of the call that they belong to. */
  id: string;
  records: readonly ProcessRecord[];
  /** Whether the card is open. */
  open: boolean;
}

/** How many ended operations a closed card lists one by one. */
const listed = 2;

/** The progress of a running call and, folded, the timelines of its ended operations. */
export function Operations({ id, records, open }: OperationsProps) {
  const running = useProcesses().filter((process) => process.toolCallId === id);
  return <OperationList running={running} records={open ? records : records.filter(worthShowing)} open={open} />;
}

/** Reports whether a timeline has more than the beginning and the successful end of a command. */
function worthShowing({ lines, omitted = 0, status }: ProcessRecord): boolean {
  return lines.length + omitted > 2 || status === "failed";
}

export interface OperationListProps {
  running: readonly Process[];
  records: readonly ProcessRecord[];
  open: boolean;
}

export function OperationList({ running, records, open }: OperationListProps) {
  if (running.length === 0 && records.length === 0) {
    return null;
  }
  const folds = !open && records.length > listed;
  const ended = records.map((record) => <Operation key={record.operationId} record={record} />);
  return (
    <div className="divide-y divide-line border-line border-t">
      {[
        ...running.map((process) => <Operation key={process.last.operationId} process={process} />),
        ...(folds ? [] : ended),
      ]}
      {folds ? (
        <Group title={t("chat.operations.operations", { length: records.length })}>
          <div className="divide-y divide-line">{ended}</div>
        </Group>
      ) : null}
    </div>
  );
}

/** One operation, from its beginning on. A timeline opened by a person stays open when the operation ends. */
function Operation({ process, record }: { process?: Process; record?: ProcessRecord }) {
  const [open, setOpen] = useState(false);
  const toggle = () => setOpen(!open);
  if (process) {
    return <Running process={process} open={open} onToggle={toggle} />;
  }
  return record ? <Ended record={record} open={open} onToggle={toggle} /> : null;
}

interface Foldable {
  open: boolean;
  onToggle: () => void;
}

function Running({ process, open, onToggle }: Foldable & { process: Process }) {
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
      <Folded title={t("chat.operations.timeline")} open={open} onToggle={onToggle}>
        <FollowedLog process={process} />
      </Folded>
    </div>
  );
}

function Ended({ record, open, onToggle }: Foldable & { record: ProcessRecord }) {
  const { lines, omitted = 0 } = record;
  const steps = lines.length + omitted;
  const failed = record.status === "failed";
  return (
    <div data-testid="operation" data-status={record.status}>
      <Folded
        title={t("chat.operations.steps", { source: record.source, steps })}
        note={lines.at(-1)?.message}
        badge={<Badge tone={failed ? "danger" : "neutral"}>{statusText(record.status)}</Badge>}
        open={open}
        onToggle={onToggle}
      >
        <ProcessLog logRef={record.processLogRef} startedAt={record.startedAt} lines={lines} omitted={omitted} />
      </Folded>
    </div>
  );
}

/** Operations that have ended, folded into one line. */
function Group({ title, children }: { title: string; children: React.ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <Folded title={title} flush open={open} onToggle={() => setOpen(!open)}>
      {children}
    </Folded>
  );
}

interface FoldedProps extends Foldable {
  title: string;
  note?: string | undefined;
  badge?: React.ReactNode;
  /** Whether its content has its own margins. */
  flush?: boolean;
  children: React.ReactNode;
}

function Folded({ title, note, badge, flush = false, open, onToggle, children }: FoldedProps) {
  return (
    <>
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className="touchable flex w-full items-center gap-2 px-3 py-1 text-left text-[0.8125rem] hover:bg-sunken"
      >
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
        <span className="shrink-0 text-muted">{title}</span>
        <span className="min-w-0 flex-1 truncate text-faint">{note}</span>
        {badge}
      </button>
      {open ? <div className={flush ? "border-line border-t" : "px-3 pt-1 pb-2.5"}>{children}</div> : null}
    </>
  );
}
