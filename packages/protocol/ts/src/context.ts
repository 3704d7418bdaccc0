// The context that a model is given of a session at a leaf: the rules of the Go
// package session (docs/session-format.md, "Tree and context"), tested against the
// same files. Pure.

import { dateOf } from "./date.ts";
import type { AssistantMessage, Entry } from "./gen/session.ts";
import { type Hole, walk } from "./tree.ts";

/**
 * A message of a context: one as stored, or one of the roles `custom`, `branchSummary`
 * and `compactionSummary`. In a damaged file it may be of any kind.
 */
export interface ContextMessage {
  role?: string;
  content?: unknown;
  [key: string]: unknown;
}

export interface SessionContext {
  messages: ContextMessage[];
  /** The ids of the entries that the messages come from. */
  sources: string[];
  /** 'off' if none was set. */
  thinkingLevel: string;
  /** null if none was set. */
  model: { provider: string | undefined; modelId: string | undefined } | null;
  /** Where the path to the leaf ends before a root: entries above it are not in the context. */
  hole: Hole | null;
}

/** The members of an entry, whatever its type. */
type Fields = { readonly [key: string]: unknown };
const fieldsOf = (e: Entry): Fields => e as unknown as Fields;

/**
 * Returns the context at an entry: by default the last one; null means before the first
 * one.
 */
export function contextOf(entries: readonly Entry[], leaf?: string | null): SessionContext {
  const { entries: path, hole } = walk(entries, leaf);
  const at = path.findLastIndex((e) => e.type === "compaction");
  const checkpoint = path[at];
  const kept = checkpoint ? keptBefore(path.slice(0, at), checkpoint) : [];
  const after = path.slice(at + 1);
  const edits = editsOf([...kept, ...after]);
  const context: SessionContext = { messages: [], sources: [], ...settingsOf(path), hole };
  const add = (e: Entry, messages: unknown[]): void => {
    for (const message of messages) {
      context.messages.push(message as ContextMessage);
      context.sources.push(e.id);
    }
  };
  if (checkpoint && edits.get(checkpoint.id) !== null) {
    add(checkpoint, checkpointMessages(checkpoint));
  }
  for (const e of [...kept, ...after]) {
    add(e, edited(e, messageOf(e), edits));
  }
  return context;
}

/**
 * Returns the last model and thinking level on the whole path, including entries before a
 * compaction.
 */
function settingsOf(path: readonly Entry[]): Pick<SessionContext, "thinkingLevel" | "model"> {
  let thinkingLevel = "off";
  let model: SessionContext["model"] = null;
  for (const e of path) {
    if (e.type === "thinking_level_change") {
      thinkingLevel = e.thinkingLevel as string;
    } else if (e.type === "model_change") {
      model = { provider: e.provider, modelId: e.modelId };
    } else if (e.type === "message" && roleOf(e.message) === "assistant") {
      const { provider, model: modelId } = e.message as AssistantMessage;
      model = { provider, modelId };
    }
  }
  return { thinkingLevel, model };
}

/**
 * Returns the entries before a compaction that it keeps, without system messages: the
 * checkpoint holds their combined result.
 */
function keptBefore(path: readonly Entry[], compaction: Entry): Entry[] {
  const { firstKeptEntryId } = fieldsOf(compaction);
  const from = path.findIndex((e) => e.id === firstKeptEntryId && typeof e.id === "string");
  if (from < 0) {
    return [];
  }
  const isSystem = (e: Entry): boolean => e.type === "message" && roleOf(e.message) === "system";
  return path.slice(from).filter((e) => !isSystem(e));
}

/** Returns the last edit of each entry. An edit without a replacement changes nothing. */
function editsOf(entries: readonly Entry[]): Map<unknown, unknown> {
  const edits = new Map<unknown, unknown>();
  for (const e of entries) {
    if (e.type === "context_edit" && typeof e.targetId === "string" && e.replacement !== undefined) {
      edits.set(e.targetId, e.replacement);
    }
  }
  return edits;
}

/** Returns the summary that replaces the entries that a compaction removed. */
function checkpointMessages(e: Entry): unknown[] {
  const { summary, tokensBefore, systemMessage } = fieldsOf(e);
  const stands = {
    role: "compactionSummary",
    summary,
    tokensBefore,
    timestamp: dateOf(e.timestamp),
  };
  return systemMessage ? [systemMessage, stands] : [stands];
}

/**
 * Returns the message that an entry contributes, as a list of one; empty if it contributes
 * none.
 */
function messageOf(e: Entry): unknown[] {
  const timestamp = dateOf(e.timestamp);
  switch (e.type) {
    case "message":
      return storedMessage(e.message);
    case "custom_message": {
      const { customType, content, display, details } = fieldsOf(e);
      return [{ role: "custom", customType, content: content ?? [], display, details, timestamp }];
    }
    case "branch_summary": {
      const { summary, fromId } = e;
      return summary ? [{ role: "branchSummary", summary, fromId, timestamp }] : [];
    }
  }
  return [];
}

/**
 * Returns the message as stored in the file; if it lacks the content that its role needs,
 * it gets empty content.
 */
function storedMessage(message: unknown): unknown[] {
  if (message === null || message === undefined) {
    return [];
  }
  const role = roleOf(message);
  const { content } = message as Fields;
  if (content !== null && content !== undefined) {
    return [message];
  }
  switch (role) {
    case "user":
    case "assistant":
    case "toolResult":
      return [{ ...message, content: [] }];
    case "system":
      return [{ ...message, content: "" }];
  }
  return [message];
}

function roleOf(message: unknown): unknown {
  return typeof message === "object" && message !== null ? (message as Fields).role : undefined;
}

/** Returns the messages of an entry after its edit. */
function edited(e: Entry, messages: unknown[], edits: Map<unknown, unknown>): unknown[] {
  const edit = edits.get(e.id);
  if (edit === undefined) {
    return messages;
  }
  if (edit === null) {
    return [];
  }
  return messages.map((message) => {
    const role = roleOf(message);
    if (role !== "user" && role !== "assistant" && role !== "toolResult" && role !== "custom") {
      return message;
    }
    const { content } = edit as Fields;
    const asBlock = typeof content === "string" && (role === "assistant" || role === "toolResult");
    return {
      ...(message as Fields),
      content: asBlock ? [{ type: "text", text: content }] : content,
    };
  });
}
