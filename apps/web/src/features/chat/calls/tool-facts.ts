// The log's facts about each tool call: its result, its decision and its subagents.
import {
  CUSTOM_APPROVAL,
  CUSTOM_PROCESS,
  CUSTOM_QUESTION,
  CUSTOM_SUBAGENTS,
  type ProcessRecord,
  type Release,
  type SessionEntry,
  type SubagentMember,
  type ToolResultMessage,
} from "../../../api/types";

/** Who decided about a tool call, and how. */
export interface ToolDecision {
  decision: string;
  decidedBy: string;
  /** The feedback to the agent that came with a denial. */
  feedback?: string;
  /** The rules that were stored. */
  rules?: string[];
  /** Why the call was released without an answer. */
  released?: Release;
}

/** The outcome of a question of the agent. */
export interface ToolAnswer {
  outcome: string;
  answer?: string;
  answeredBy: string;
}

/** The log's facts about one tool call. */
export interface ToolFacts {
  result: ToolResultMessage | null;
  decision: ToolDecision | null;
  /** The answer, for a call that asked people. */
  answer?: ToolAnswer;
  /** The subagents that worked for it, if any. */
  crew?: readonly SubagentMember[];
  /** Ended operations, in the order of their ends. */
  operations: readonly ProcessRecord[];
}

export const nothing: ToolFacts = { result: null, decision: null, operations: [] };

/** Collects the facts of all entries, by call id. */
export function collectFacts(entries: readonly SessionEntry[]): Map<string, ToolFacts> {
  const facts = new Map<string, ToolFacts>();
  for (const entry of entries) {
    addFacts(facts, entry);
  }
  return facts;
}

/** Adds the facts of one entry. Returns the id of the call that it is about, or null. */
export function addFacts(facts: Map<string, ToolFacts>, entry: SessionEntry): string | null {
  const told = factOf(entry, facts);
  if (!told) {
    return null;
  }
  facts.set(told.id, { ...(facts.get(told.id) ?? nothing), ...told.more });
  return told.id;
}

/** Adds the facts of later entries, which replace earlier ones of the same kind. */
export function joinFacts(facts: Map<string, ToolFacts>, later: ReadonlyMap<string, ToolFacts>): void {
  for (const [id, more] of later) {
    const known = facts.get(id);
    if (!known) {
      facts.set(id, more);
      continue;
    }
    facts.set(id, {
      ...known,
      ...more,
      result: more.result ?? known.result,
      decision: more.decision ?? known.decision,
      operations: [...known.operations, ...more.operations],
    });
  }
}

interface Told {
  id: string;
  more: Partial<ToolFacts>;
}

function factOf(entry: SessionEntry, facts: ReadonlyMap<string, ToolFacts>): Told | null {
  if (entry.type === "message") {
    const { message } = entry;
    return message.role === "toolResult" ? { id: message.toolCallId, more: { result: message } } : null;
  }
  if (entry.type !== "custom" || !isRecord(entry.data)) {
    return null;
  }
  const { data } = entry;
  const id = data.toolCallId;
  if (typeof id !== "string") {
    return null;
  }
  switch (entry.customType) {
    case CUSTOM_QUESTION:
      return answerFact(id, data);
    case CUSTOM_SUBAGENTS:
      return Array.isArray(data.members)
        ? { id, more: { crew: data.members.filter(isRecord) as unknown as SubagentMember[] } }
        : null;
    case CUSTOM_PROCESS:
      return id && isProcessRecord(data)
        ? { id, more: { operations: [...(facts.get(id)?.operations ?? []), data] } }
        : null;
    case CUSTOM_APPROVAL:
      return decisionFact(id, data);
    default:
      return null;
  }
}

function answerFact(id: string, { outcome, answer, answeredBy }: Record<string, unknown>): Told | null {
  if (typeof outcome !== "string") {
    return null;
  }
  const given = typeof answer === "string" ? { answer } : {};
  return { id, more: { answer: { outcome, answeredBy: String(answeredBy), ...given } } };
}

function decisionFact(id: string, data: Record<string, unknown>): Told | null {
  const { decision, decidedBy, feedback, rules, released } = data;
  if (typeof decision !== "string") {
    return null;
  }
  return {
    id,
    more: {
      decision: {
        decision,
        decidedBy: String(decidedBy),
        ...(typeof feedback === "string" ? { feedback } : {}),
        ...(Array.isArray(rules) ? { rules: rules.map(String) } : {}),
        ...(isRecord(released) ? { released: releaseOf(released) } : {}),
      },
    },
  };
}

/** Reports whether two collections look the same when rendered. */
export function sameTools(a: ReadonlyMap<string, ToolFacts>, b: ReadonlyMap<string, ToolFacts>): boolean {
  if (a.size !== b.size) {
    return false;
  }
  for (const [id, facts] of a) {
    const other = b.get(id);
    if (facts.result !== other?.result) {
      return false;
    }
    if (facts.crew !== other?.crew && JSON.stringify(facts.crew) !== JSON.stringify(other?.crew)) {
      return false;
    }
    if (facts.operations.length !== other.operations.length) {
      return false;
    }
    if (facts.answer?.outcome !== other.answer?.outcome || facts.answer?.answer !== other.answer?.answer) {
      return false;
    }
    if (facts.decision?.decision !== other.decision?.decision) {
      return false;
    }
    if (facts.decision?.decidedBy !== other.decision?.decidedBy) {
      return false;
    }
  }
  return true;
}

function releaseOf({ rules, mode }: Record<string, unknown>): Release {
  return {
    ...(Array.isArray(rules) ? { rules: rules.map(String) } : {}),
    ...(typeof mode === "string" ? { mode } : {}),
  };
}

/** A record of a newer host may lack fields that this page needs; it is skipped. */
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
