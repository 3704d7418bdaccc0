import { memo, useMemo } from "react";
import type { SubagentChild } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { t } from "../../../i18n/chat";
import type { DiffInput } from "../../diff/Diff";
import { changeOf, remarkOf } from "../calls/changes";
import { todosIn } from "../calls/todos";
import type { ToolDecision, ToolFacts } from "../calls/tool-facts";
import { exitCode, resultImages, resultText, viewTool } from "../calls/tool-view";
import { useLiveTools } from "../context/live-context";
import { goalsOf, reportsOf } from "../subagents/subagent-facts";
import { Frame, type FrameProps } from "./Frame";

export interface ToolCardProps {
  id: string;
  name: string;
  args: unknown;
  facts: ToolFacts;
}

/** A tool call and its result. */
export const ToolCard = memo(function ToolCard(props: ToolCardProps) {
  return props.facts.result ? <ClosedCard {...props} /> : <OpenCard {...props} />;
});

function ClosedCard({ id, name, args, facts }: ToolCardProps) {
  const { result, decision, answer } = facts;
  const failed = result?.isError ?? false;
  const code = result ? exitCode(result) : null;
  const bad = failed || (code !== null && code !== 0);
  const label = answer ? outcomeWord(answer.outcome) : outcome(failed, code, decision);
  const text = result ? resultText(result) : "";
  return (
    <Frame
      view={viewTool(name, args)}
      state={bad ? "failed" : "done"}
      badge={<Badge tone={bad ? "danger" : "neutral"}>{label}</Badge>}
      startsOpen={false}
      output={result ? remarkOf(result, text) : ""}
      change={useChange(name, args, result)}
      todos={todosIn(result)}
      images={result ? resultImages(result) : []}
      answer={answer}
      decision={decision}
      crew={facts.crew && { members: facts.crew, goals: goalsOf(args), reports: reportsOf(result) }}
      operations={{ id, records: facts.operations }}
    />
  );
}

function useChange(name: string, args: unknown, result: ToolFacts["result"]): DiffInput | null {
  return useMemo(() => changeOf(name, args, result), [name, args, result]);
}

/** Returns one word for the outcome of a question. */
function outcomeWord(outcome: string): string {
  switch (outcome) {
    case "answered":
      return t("chat.tools.answered");
    case "skipped":
      return t("chat.tools.skipped");
    case "timed_out":
      return t("chat.tools.timedOut");
    case "cancelled":
      return t("chat.tools.canceled");
    default:
      return outcome;
  }
}

/** Returns one word for the outcome of a call. A command stopped by a signal has the code -1. */
function outcome(failed: boolean, code: number | null, decision: ToolDecision | null): string {
  if (decision?.decision === "deny") {
    return t("chat.tools.denied");
  }
  if (decision?.decision === "stop") {
    return t("chat.tools.stopped");
  }
  if (code === -1) {
    return t("chat.tools.stopped");
  }
  if (code !== null && code !== 0) {
    return t("chat.tools.exit", { code });
  }
  return failed ? t("chat.tools.failed") : t("chat.tools.done");
}

/** The card of an unfinished call, which subscribes to the running turn. */
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
        {t("chat.tools.running")}
      </Badge>
    ),
    waiting: (
      <Badge tone="warn" live>
        {t("chat.tools.needsYou")}
      </Badge>
    ),
    pending: <Badge>{t("chat.tools.next")}</Badge>,
    lost: <Badge tone="danger">{t("chat.tools.noResult")}</Badge>,
  };
  return (
    <Frame
      view={viewTool(name, args)}
      state={state}
      badge={badges[state]}
      startsOpen={state === "running" && !batch}
      output={tool?.output ?? ""}
      change={useChange(name, args, null)}
      decision={facts.decision}
      crew={subagentsOf(batch?.children ?? facts.crew, args)}
      operations={{ id, records: facts.operations }}
      tail
    />
  );
}

function subagentsOf(members: readonly SubagentChild[] | undefined, args: unknown): FrameProps["crew"] {
  return members && { members, goals: goalsOf(args), reports: [] };
}
