import { useId, useState } from "react";
import { Link } from "wouter";
import type { ChildState, Process, ProcessRecord, SubagentChild } from "../../../api/types";
import { Badge, type Tone } from "../../../components/Badge";
import { cx } from "../../../components/cx";
import { ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { address } from "../../route/address";
import { useOpen } from "../../route/entry";
import { useNow } from "../../shared/time";
import { useProcesses } from "../context/live-context";
import { OperationList } from "../operations/Operations";
import { Markdown } from "../text/Markdown";
import { endedBelow, runningBelow, statistics } from "./subagent-facts";

const tones: Record<string, Tone> = { running: "accent", failed: "danger" };

export interface SubagentListProps {
  members: readonly SubagentChild[];
  /** The goals of the tasks, in the same order. */
  goals: readonly string[];
  /** The reports of the tasks, once the call has ended. */
  reports: readonly string[];
  /** The agents' own running operations with all their ancestors, and those that have ended. */
  operations: { id: string; records: readonly ProcessRecord[] };
}

/** The subagents of a call: their progress, goals and reports. */
export function SubagentList({ members, goals, reports, operations }: SubagentListProps) {
  const processes = useProcesses().filter(({ toolCallId }) => toolCallId === operations.id);
  const ended = members.filter(({ endedAt, state }) => endedAt || !["queued", "running"].includes(state)).length;
  const running = members.some(({ state }) => state === "running");
  const now = useNow(running ? 1000 : null);
  return (
    <section data-testid="crew" aria-label={t("chat.subagents.subagents")} className="border-line border-t">
      {members.length > 1 ? (
        <p data-testid="crew-progress" className="caption px-3 pt-2 pb-0.5 text-faint">
          {t("chat.subagents.ofFinished", { ended, length: members.length })}
        </p>
      ) : null}
      <ul className="divide-y divide-line">
        {members.map((member, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the tasks of a call never move
          <li key={i} data-testid="crew-member" data-state={member.state}>
            <Member
              member={member}
              goal={goals[i] ?? ""}
              report={reports[i] ?? ""}
              running={runningBelow(member, processes)}
              records={endedBelow(member, operations.records, processes)}
              now={now}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MemberProps {
  member: SubagentChild;
  goal: string;
  report: string;
  running: readonly Process[];
  records: readonly ProcessRecord[];
  now: number;
}

function Member({ member, goal, report, running: operations, records, now }: MemberProps) {
  const [open, setOpen] = useState(false);
  const details = useId();
  const asks = (member.approvals?.length ?? 0) > 0;
  const running = member.state === "running";
  return (
    <>
      <div className="flex items-stretch">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={details}
          onClick={() => setOpen(!open)}
          className="touchable flex min-w-0 flex-1 items-start gap-2 px-3 py-2 text-left text-sm hover:bg-sunken"
        >
          <ChevronRightIcon className={cx("mt-0.5 shrink-0 text-faint transition-transform", open && "rotate-90")} />
          <Heading member={member} now={now} folded={!open} />
          <Badge tone={asks ? "warn" : (tones[member.state] ?? "neutral")} live={running}>
            {asks ? t("chat.subagents.needsYou") : words[member.state]}
          </Badge>
        </button>
        <SessionLink member={member} />
      </div>
      <OperationList running={operations} records={open ? records : []} open={open} />
      {open ? (
        <div id={details} className="space-y-3 bg-bg px-3 pt-2 pb-3 pl-9 text-sm">
          {goal ? (
            <Part title={t("chat.subagents.task")}>
              <p dir="auto" className="max-h-60 overflow-auto whitespace-pre-wrap break-words text-muted">
                {goal}
              </p>
            </Part>
          ) : null}
          {member.toolNames?.length ? (
            <Part title={t("chat.subagents.tools")}>
              <p className="break-words font-mono text-[0.8125rem] text-muted">{member.toolNames.join(", ")}</p>
            </Part>
          ) : null}
          {report || member.summary ? (
            <Part title={report ? t("chat.subagents.report") : t("chat.subagents.summaryOfTheReport")}>
              <div className="max-h-[32rem] overflow-auto" data-testid="crew-report">
                <Markdown text={report || member.summary || ""} />
              </div>
            </Part>
          ) : null}
        </div>
      ) : null}
    </>
  );
}

function Heading({ member, now, folded }: { member: SubagentChild; now: number; folded: boolean }) {
  const figures = statistics(member, now);
  const doing = member.state === "running" ? member.doing : undefined;
  return (
    <span className="min-w-0 flex-1">
      <span dir="auto" className="line-clamp-2 break-words [overflow-wrap:anywhere]">
        {member.title}
      </span>
      <span className="block truncate text-faint text-xs tabular-nums">
        {[member.agent, doing, ...figures].filter(Boolean).join(" · ")}
      </span>
      {member.error ? <span className="line-clamp-3 break-words text-danger text-xs">{member.error}</span> : null}
      {folded && member.summary && !member.error ? (
        <span dir="auto" className="line-clamp-2 break-words text-muted text-xs [overflow-wrap:anywhere]">
          {member.summary}
        </span>
      ) : null}
    </span>
  );
}

function SessionLink({ member }: { member: SubagentChild }) {
  const { deviceId } = useOpen();
  if (!deviceId || !member.sessionId) {
    return null;
  }
  return (
    <Link
      to={address.session(deviceId, member.sessionId)}
      aria-label={t("chat.subagents.openTheSession", { title: member.title })}
      className="touchable flex shrink-0 items-start border-line border-l px-3 py-2 text-accent text-sm hover:bg-sunken"
    >
      {t("chat.subagents.open")}
    </Link>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <h3 className="caption mb-0.5 text-faint">{title}</h3>
      {children}
    </div>
  );
}

const words: Record<ChildState, string> = {
  get queued() {
    return t("chat.subagents.queued");
  },
  get running() {
    return t("chat.subagents.working");
  },
  get completed() {
    return t("chat.subagents.done");
  },
  get failed() {
    return t("chat.subagents.failed");
  },
  get cancelled() {
    return t("chat.subagents.canceled");
  },
};
