import { Fragment, memo, useState } from "react";
import type { CrewChild } from "../../api/types";
import { Badge } from "../../components/Badge";
import { cx } from "../../components/cx";
import {
  BranchIcon,
  ChevronRightIcon,
  FileIcon,
  QuestionIcon,
  SearchIcon,
  SettingsIcon,
  TerminalIcon,
} from "../../components/icons";
import { Answered } from "./Answered";
import { Code } from "./CodeBlock";
import { CrewList } from "./CrewList";
import { FoldedText } from "./FoldedText";
import { useLiveTools, useNames } from "./live-context";
import { Operations, type OperationsProps } from "./Operations";
import { releasedBy } from "./released";
import type { ToolAnswer, ToolDecision, ToolFacts } from "./tool-facts";
import { exitCode, resultText, type ToolView, viewTool } from "./tool-view";

export interface ToolCardProps {
  id: string;
  name: string;
  args: unknown;
  facts: ToolFacts;
}

/** A tool call and what came of it. */
export const ToolCard = memo(function ToolCard(props: ToolCardProps) {
  return props.facts.result ? <ClosedCard {...props} /> : <OpenCard {...props} />;
});

function ClosedCard({ id, name, args, facts }: ToolCardProps) {
  const { result, decision, answer } = facts;
  const failed = result?.isError ?? false;
  const code = result ? exitCode(result) : null;
  const bad = failed || (code !== null && code !== 0);
  const label = answer ? answer.outcome.replace("_", " ") : outcome(failed, code, decision);
  return (
    <Frame
      view={viewTool(name, args)}
      state={bad ? "failed" : "done"}
      badge={<Badge tone={bad ? "danger" : "neutral"}>{label}</Badge>}
      startsOpen={false}
      output={result ? resultText(result) : ""}
      answer={answer}
      decision={decision}
      crew={facts.crew}
      operations={{ id, records: facts.operations }}
    />
  );
}

/** One word for how a call ended. A command that a signal stopped has the code -1. */
function outcome(failed: boolean, code: number | null, decision: ToolDecision | null): string {
  if (decision?.decision === "deny") return "denied";
  if (decision?.decision === "stop") return "stopped";
  if (code === -1) return "stopped";
  if (code !== null && code !== 0) return `exit ${code}`;
  return failed ? "failed" : "done";
}

/** Subscribes to the running turn; a card that is done does not. */
function OpenCard({ id, name, args, facts }: ToolCardProps) {
  const live = useLiveTools();
  const tool = live.tools.find((each) => each.toolCallId === id);
  const batch = live.crew.find((each) => each.toolCallId === id);
  const asks =
    live.questions.some((each) => each.toolCallId === id) ||
    (batch?.children.some((each) => each.approvals?.length) ?? false);
  const waits = asks || live.approvals.some((each) => each.toolCallId === id);
  const state = tool && !asks ? "running" : waits ? "waiting" : live.running ? "pending" : "lost";
  const badges = {
    running: (
      <Badge tone="accent" live>
        running
      </Badge>
    ),
    waiting: (
      <Badge tone="warn" live>
        waits for you
      </Badge>
    ),
    pending: <Badge>next</Badge>,
    lost: <Badge tone="danger">no result</Badge>,
  };
  return (
    <Frame
      view={viewTool(name, args)}
      state={state}
      badge={badges[state]}
      startsOpen={state === "running" && !batch}
      output={tool?.output ?? ""}
      decision={facts.decision}
      crew={batch?.children ?? facts.crew}
      operations={{ id, records: facts.operations }}
      tail
    />
  );
}

export interface FrameProps {
  view: ToolView;
  state: string;
  badge: React.ReactNode;
  startsOpen: boolean;
  output: string;
  decision: ToolDecision | null;
  /** How a question ended: it stands for the output. */
  answer?: ToolAnswer | undefined;
  /** The agents that work for it, always in sight. */
  crew?: readonly CrewChild[] | undefined;
  operations?: Omit<OperationsProps, "open">;
  /** The output grows: its end is what matters. */
  tail?: boolean;
}

const icons = {
  command: TerminalIcon,
  file: FileIcon,
  search: SearchIcon,
  question: QuestionIcon,
  agents: BranchIcon,
  other: SettingsIcon,
};

export function Frame({
  view,
  state,
  badge,
  startsOpen,
  output,
  decision,
  answer,
  crew,
  operations,
  tail = false,
}: FrameProps) {
  // null: as the state says. A reader's own choice stays.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? startsOpen;
  const Icon = icons[view.kind];
  return (
    <div
      data-testid="tool-card"
      data-state={state}
      className="my-2 overflow-hidden rounded-md border border-line bg-surface"
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setChosen(!open)}
        className="touchable flex w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-sunken"
      >
        <Icon className="shrink-0 text-faint" />
        <span className="shrink-0 font-medium text-sm">{view.verb}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-muted">{view.subject}</span>
        {badge}
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
      </button>
      {crew ? <CrewList members={crew} /> : null}
      {operations && !crew ? <Operations {...operations} open={open} /> : null}
      {open ? (
        <div className="space-y-2 border-line border-t bg-bg px-3 py-2.5">
          {answer ? (
            <Answered question={view.subject} choices={view.choices} answer={answer} />
          ) : (
            <Arguments view={view} />
          )}
          {decision ? <DecisionLine decision={decision} /> : null}
          {answer ? null : output ? (
            <FoldedText text={output} tail={tail} />
          ) : (
            <p className="text-faint text-sm">No output{tail ? " yet" : ""}.</p>
          )}
        </div>
      ) : null}
    </div>
  );
}

function Arguments({ view }: { view: ToolView }) {
  return (
    <>
      {view.kind === "command" && !view.body ? (
        <pre className="whitespace-pre-wrap break-words font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
          <span className="select-none text-accent">$ </span>
          {view.subject}
        </pre>
      ) : null}
      {view.body ? (
        <Code
          code={view.body.text}
          language={view.body.language}
          className="max-h-80 overflow-auto rounded-sm border border-line bg-sunken p-2"
        />
      ) : null}
      {view.rest.length > 0 ? (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-0.5 text-[0.8125rem]">
          {view.rest.map(([name, value]) => (
            <Fragment key={name}>
              <dt className="text-faint">{name}</dt>
              <dd className="break-words font-mono [overflow-wrap:anywhere]">{value}</dd>
            </Fragment>
          ))}
        </dl>
      ) : null}
    </>
  );
}

function DecisionLine({ decision }: { decision: ToolDecision }) {
  const nameOf = useNames();
  const who = nameOf(decision.decidedBy);
  const words: Record<string, string> = {
    allow: decision.released
      ? `Nobody answered. Allowed ${releasedBy(decision.released)}, after a change of ${who}.`
      : `Allowed once by ${who}.`,
    always: `Allowed by ${who}, and from then on: ${decision.rules?.join(", ") ?? "the rule that was shown"}`,
    deny: decision.feedback ? `Denied by ${who}: “${decision.feedback}”` : `Denied by ${who}.`,
    stop: `Denied by ${who}, who stopped the turn.`,
    cancelled: "The turn was cancelled before anybody answered.",
  };
  return (
    <p className="break-words text-muted text-xs">{words[decision.decision] ?? `Decided: ${decision.decision}.`}</p>
  );
}
