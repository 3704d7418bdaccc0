// What the log knows of each tool call: its result, who decided, who worked for it.
import {
  type CrewMember,
  CUSTOM_APPROVAL,
  CUSTOM_CREW,
  CUSTOM_PROCESS,
  CUSTOM_QUESTION,
  type ProcessRecord,
  type Release,
  type SessionEntry,
  type ToolResultMessage,
} from "../../api/types";

/** Who decided about a tool call, and how. */
export interface ToolDecision {
  decision: string;
  decidedBy: string;
  /** The word to the agent that went with a denial. */
  feedback?: string;
  /** What is allowed from then on. */
  rules?: string[];
  /** What let the call go where nobody answered. */
  released?: Release;
}

/** How a question of the agent ended. */
export interface ToolAnswer {
  outcome: string;
  answer?: string;
  answeredBy: string;
}

/** What the log knows of one tool call. */
export interface ToolFacts {
  result: ToolResultMessage | null;
  decision: ToolDecision | null;
  /** Of a call that asked people. */
  answer?: ToolAnswer;
  /** The agents that worked for it; absent where none did. */
  crew?: readonly CrewMember[];
  /** Operations that have ended, in the order of their ends. */
  operations: readonly ProcessRecord[];
}

export const nothing: ToolFacts = { result: null, decision: null, operations: [] };

/** Gathers them from all entries, by the id of the call. */
export function collectFacts(entries: readonly SessionEntry[]): Map<string, ToolFacts> {
  const facts = new Map<string, ToolFacts>();
  const add = (id: string, more: Partial<ToolFacts>) => facts.set(id, { ...(facts.get(id) ?? nothing), ...more });
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "toolResult") {
      add(entry.message.toolCallId, { result: entry.message });
    } else if (entry.type === "custom" && entry.customType === CUSTOM_QUESTION && isRecord(entry.data)) {
      const { toolCallId, outcome, answer, answeredBy } = entry.data;
      if (typeof toolCallId === "string" && typeof outcome === "string") {
        const given = typeof answer === "string" ? { answer } : {};
        add(toolCallId, { answer: { outcome, answeredBy: String(answeredBy), ...given } });
      }
    } else if (entry.type === "custom" && entry.customType === CUSTOM_CREW && isRecord(entry.data)) {
      const { toolCallId, members } = entry.data;
      if (typeof toolCallId === "string" && Array.isArray(members)) {
        add(toolCallId, { crew: members.filter(isRecord) as unknown as CrewMember[] });
      }
    } else if (entry.type === "custom" && entry.customType === CUSTOM_PROCESS && isProcessRecord(entry.data)) {
      const { toolCallId } = entry.data;
      if (toolCallId) add(toolCallId, { operations: [...(facts.get(toolCallId)?.operations ?? []), entry.data] });
    } else if (entry.type === "custom" && entry.customType === CUSTOM_APPROVAL && isRecord(entry.data)) {
      const { toolCallId, decision, decidedBy, feedback, rules, released } = entry.data;
      if (typeof toolCallId === "string" && typeof decision === "string") {
        add(toolCallId, {
          decision: {
            decision,
            decidedBy: String(decidedBy),
            ...(typeof feedback === "string" ? { feedback } : {}),
            ...(Array.isArray(rules) ? { rules: rules.map(String) } : {}),
            ...(isRecord(released) ? { released: releaseOf(released) } : {}),
          },
        });
      }
    }
  }
  return facts;
}

/** Whether two collections would be shown alike. */
export function sameTools(a: ReadonlyMap<string, ToolFacts>, b: ReadonlyMap<string, ToolFacts>): boolean {
  if (a.size !== b.size) return false;
  for (const [id, facts] of a) {
    const other = b.get(id);
    if (facts.result !== other?.result) return false;
    if (facts.crew !== other?.crew && JSON.stringify(facts.crew) !== JSON.stringify(other?.crew)) return false;
    if (facts.operations.length !== other.operations.length) return false;
    if (facts.decision?.decision !== other.decision?.decision) return false;
    if (facts.decision?.decidedBy !== other.decision?.decidedBy) return false;
  }
  return true;
}

function releaseOf({ rules, mode }: Record<string, unknown>): Release {
  return {
    ...(Array.isArray(rules) ? { rules: rules.map(String) } : {}),
    ...(typeof mode === "string" ? { mode } : {}),
  };
}

/** One of a newer host may lack what this page needs; it is passed over. */
function isProcessRecord(value: unknown): value is ProcessRecord {
  return (
    isRecord(value) &&
    typeof value.operationId === "string" &&
    typeof value.processLogRef === "string" &&
    Array.isArray(value.lines)
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
