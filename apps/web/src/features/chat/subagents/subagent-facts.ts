// The facts about each task of a call to subagents.
import type { Process, ProcessRecord, SubagentMember, ToolResultMessage } from "../../../api/types";
import { t } from "../../../i18n/chat";
import { number } from "../../../i18n/i18n";
import { tokens } from "../../shared/tokens";
import { resultText } from "../calls/tool-view";

/** Returns the tasks as the agent wrote them, in order. */
export function goalsOf(args: unknown): string[] {
  if (!isRecord(args)) {
    return [];
  }
  const tasks = Array.isArray(args.tasks) ? args.tasks : [args];
  return tasks.map((task) => (isRecord(task) && typeof task.prompt === "string" ? task.prompt : ""));
}

/** Returns the report of each task, cut out of the result by the line numbers in its details. */
export function reportsOf(result: ToolResultMessage | null): string[] {
  const details = result && isRecord(result.details) ? result.details : {};
  if (!result || !Array.isArray(details.agents)) {
    return [];
  }
  const lines = resultText(result).split("\n");
  return details.agents.map((agent) => {
    const range = isRecord(agent) && Array.isArray(agent.lines) ? agent.lines : [];
    const [from, to] = range;
    return typeof from === "number" && typeof to === "number" ? lines.slice(from, to).join("\n") : "";
  });
}

/** Returns the duration and usage of a task: "12 calls", "4.2K tokens", "1:20". */
export function statistics(member: SubagentMember, now: number): string[] {
  const { toolCallCount: calls = 0, usage, startedAt, endedAt } = member;
  const said: string[] = [];
  if (calls > 0) {
    said.push(t("chat.subagents.calls", { calls }));
  }
  if (usage?.totalTokens) {
    said.push(t("chat.subagents.tokens", { tokens: tokens(usage.totalTokens) }));
  }
  if (startedAt && (endedAt || member.state === "running")) {
    said.push(duration((endedAt ?? now) - startedAt));
  }
  return said;
}

/** Formats a duration: "0.8 s", "42 s", "3 min 5 s", "2 h 4 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) {
    return t("chat.subagents.seconds", { seconds: number(seconds, 1) });
  }
  if (seconds < 60) {
    return t("chat.subagents.seconds", { seconds: Math.round(seconds) });
  }
  const whole = Math.round(seconds);
  if (whole < 3600) {
    return t("chat.subagents.minutes", { minutes: Math.floor(whole / 60), seconds: whole % 60 });
  }
  return t("chat.subagents.hours", { hours: Math.floor(whole / 3600), minutes: Math.floor((whole % 3600) / 60) });
}

type Parents = ReadonlyMap<string, { parent: string | undefined; task: string | undefined }>;

/** Returns an agent's own running operations: those below the operation of its task. */
export function runningBelow({ sessionId }: SubagentMember, processes: readonly Process[]): Process[] {
  const parents = parentsOf([], processes);
  return processes.filter(({ last }) => isBelow(sessionId, last.operationId, parents));
}

/** Returns an agent's own ended operations. */
export function endedBelow(
  { sessionId }: SubagentMember,
  records: readonly ProcessRecord[],
  processes: readonly Process[],
): ProcessRecord[] {
  const parents = parentsOf(records, processes);
  return records.filter(({ operationId }) => isBelow(sessionId, operationId, parents));
}

function parentsOf(records: readonly ProcessRecord[], processes: readonly Process[]): Parents {
  return new Map(
    [...records, ...processes.map(({ last }) => last)].map(({ operationId, parentOperationId, targetType, taskId }) => [
      operationId,
      { parent: parentOperationId, task: targetType === "agent" ? taskId : undefined },
    ]),
  );
}

function isBelow(sessionId: string | undefined, operationId: string, parents: Parents): boolean {
  let above = parents.get(operationId)?.parent;
  for (let steps = 0; sessionId && above && steps < 16; steps++) {
    const operation = parents.get(above);
    if (operation?.task === sessionId) {
      return true;
    }
    above = operation?.parent;
  }
  return false;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
