import { blocksOf } from "@scorel/protocol/tree";
import {
  type AssistantMessage,
  CUSTOM_APPROVAL,
  CUSTOM_CHILD,
  CUSTOM_ENVIRONMENT,
  CUSTOM_HOOK,
  CUSTOM_INSTRUCTIONS,
  CUSTOM_LEAF,
  CUSTOM_MODE,
  CUSTOM_NOTE,
  CUSTOM_OMITTED,
  CUSTOM_PROCESS,
  CUSTOM_QUESTION,
  CUSTOM_QUEUE,
  CUSTOM_SKILLS,
  CUSTOM_SUBAGENTS,
  CUSTOM_TURN,
  type CustomEntry,
  type MessageEntry,
  type OtherEntry,
  type PartialBlock,
  type SessionEntry,
  type ToolResultMessage,
  type UserMessage,
} from "../../../api/types";
import { t } from "../../../i18n/chat";
import { sizeText } from "../../shared/size-text";
import { collectFacts, isRecord, nothing, sameTools, type ToolFacts } from "../calls/tool-facts";
import { nameOfMode } from "../mode/modes";

/** One row of the transcript. A row that did not change is the same object as before. */
export type Row =
  | { kind: "user"; key: string; entry: MessageEntry; message: UserMessage }
  | {
      kind: "assistant";
      key: string;
      entryId: string;
      message: AssistantMessage;
      tools: ReadonlyMap<string, ToolFacts>;
      /** What is there of a message that is being written. */
      writing?: readonly PartialBlock[];
    }
  | { kind: "result"; key: string; result: ToolResultMessage }
  | { kind: "note"; key: string; text: string; canceled?: boolean }
  | { kind: "summary"; key: string; title: string; text: string }
  | { kind: "error"; key: string; text: string }
  | { kind: "unknown"; key: string; type: string };

/**
 * Turns the entries of a branch, in order, into rows. `previous` are the rows from
 * before, `facts` those of the entries; the calls of tools are added to `called`.
 */
export function buildRows(
  entries: readonly SessionEntry[],
  previous: readonly Row[] = [],
  facts: ReadonlyMap<string, ToolFacts> = collectFacts(entries),
  called: Set<string> = new Set(),
): Row[] {
  const before = new Map(previous.map((row) => [row.key, row]));
  const rows: Row[] = [];
  for (const entry of entries) {
    const row = rowOf(entry, facts, called);
    if (!row || saidAlready(row, rows.at(-1))) {
      continue;
    }
    const old = before.get(row.key);
    rows.push(old && sameRow(old, row) ? old : row);
  }
  return rows;
}

/** Two runs of rows as one, without what the one before says already. */
export function joinRows(rows: readonly Row[], more: readonly Row[]): Row[] {
  const joined = rows.slice();
  for (const row of more) {
    if (!saidAlready(row, joined.at(-1))) {
      joined.push(row);
    }
  }
  return joined;
}

/** The rows with what is known by now of the calls that are named. They are sought from the end: a call is young. */
export function withFacts(
  rows: readonly Row[],
  facts: ReadonlyMap<string, ToolFacts>,
  calls: readonly (string | null)[],
): Row[] {
  const next = rows.slice();
  for (const id of new Set(calls)) {
    const at = id === null ? -1 : next.findLastIndex((row) => row.kind === "assistant" && row.tools.has(id));
    const row = next[at];
    if (row?.kind !== "assistant") {
      continue;
    }
    const tools = new Map([...row.tools.keys()].map((call) => [call, facts.get(call) ?? nothing]));
    if (!sameTools(row.tools, tools)) {
      next[at] = { ...row, tools };
    }
  }
  return next;
}

/** An answer that broke off says so itself; the record of its turn need not say it again. */
function saidAlready(row: Row, last: Row | undefined): boolean {
  if (last?.kind !== "assistant") {
    return false;
  }
  const { stopReason } = last.message;
  return (
    (row.kind === "error" && stopReason === "error") ||
    (row.kind === "note" && row.canceled === true && stopReason === "aborted")
  );
}

/** The row of an entry; null where it has none. The calls of tools in it are added to `called`. */
export function rowOf(entry: SessionEntry, facts: ReadonlyMap<string, ToolFacts>, called: Set<string>): Row | null {
  switch (entry.type) {
    case "message":
      return messageRow(entry, facts, called);
    case "model_change":
      return {
        kind: "note",
        key: entry.id,
        text: t("chat.transcript.model", { model: modelName(entry.provider, entry.modelId) }),
      };
    case "session_info":
      if (entry.seq && !entry.clientId) {
        return null; // a title that the host made
      }
      return { kind: "note", key: entry.id, text: t("chat.transcript.renamedTo", { name: entry.name }) };
    case "custom":
      return customRow(entry);
    case "thinking_level_change":
    case "label":
    case "usage":
    case "context_edit":
      return null; // settings of another program that say nothing to a reader
    case "compaction":
      return {
        kind: "summary",
        key: entry.id,
        title: t("chat.transcript.summaryOfOlderMessages"),
        text: String(entry.summary ?? ""),
      };
    case "custom_message":
      return noteRow(entry);
    case "branch_summary":
      return {
        kind: "summary",
        key: entry.id,
        title: t("chat.transcript.summaryOfAnotherBranch"),
        text: String(entry.summary ?? ""),
      };
    default:
      // A type from a newer host: the compiler knows none, the wire does.
      return { kind: "unknown", key: (entry as SessionEntry).id, type: String((entry as SessionEntry).type) };
  }
}

/** A provider that is called like its model need not be said. */
function modelName(provider: string, model: string): string {
  return provider === model ? model : `${model} (${provider})`;
}

function messageRow(entry: MessageEntry, facts: ReadonlyMap<string, ToolFacts>, called: Set<string>): Row | null {
  const { message } = entry;
  switch (message.role) {
    case "user":
      return { kind: "user", key: entry.clientKey ?? entry.id, entry, message };
    case "assistant": {
      const tools = new Map<string, ToolFacts>();
      for (const block of blocksOf(message)) {
        if (block.type !== "toolCall") {
          continue;
        }
        tools.set(block.id, facts.get(block.id) ?? nothing);
        called.add(block.id);
      }
      return { kind: "assistant", key: entry.id, entryId: entry.id, message, tools };
    }
    case "toolResult":
      // A result is shown in the card of its call; one whose call is not here stands alone.
      return called.has(message.toolCallId) ? null : { kind: "result", key: entry.id, result: message };
    default:
      return { kind: "unknown", key: entry.id, type: `message of ${(message as { role: unknown }).role}` };
  }
}

const noteTitles: Record<string, string> = {
  get jobs() {
    return t("chat.transcript.backgroundJobFinished");
  },
  get todos() {
    return t("chat.transcript.openTasks");
  },
  get instructions() {
    return t("chat.transcript.folderInstructions");
  },
  get skill() {
    return t("chat.transcript.skill");
  },
  get limit() {
    return t("chat.transcript.lastStepOfThisTurn");
  },
  get hook() {
    return t("chat.transcript.addedByAHook");
  },
};

/** What the host told the model; messages of other programs stay unknown. */
function noteRow(entry: OtherEntry): Row {
  const { customType, content, details } = entry;
  if (customType !== CUSTOM_NOTE || typeof content !== "string") {
    return { kind: "unknown", key: entry.id, type: String(customType) };
  }
  const { kind, paths } = isRecord(details) ? details : {};
  const from = Array.isArray(paths) && paths.length > 0 ? `: ${paths.join(", ")}` : "";
  return {
    kind: "summary",
    key: entry.id,
    title: (noteTitles[String(kind)] ?? t("chat.transcript.noteToTheAgent")) + from,
    text: content,
  };
}

function customRow(entry: CustomEntry): Row | null {
  switch (entry.customType) {
    case CUSTOM_QUEUE:
    case CUSTOM_APPROVAL:
    case CUSTOM_QUESTION:
    case CUSTOM_LEAF:
    case CUSTOM_SUBAGENTS: // shown with its call
    case CUSTOM_PROCESS: // shown in the card of its call
      return null;
    case CUSTOM_CHILD: {
      const { agent } = isRecord(entry.data) ? entry.data : {};
      return {
        kind: "note",
        key: entry.id,
        text: t("chat.transcript.subagentWorkingOnATask", { agent: String(agent) }),
      };
    }
    case CUSTOM_MODE: {
      const { mode } = isRecord(entry.data) ? entry.data : {};
      return {
        kind: "note",
        key: entry.id,
        text: t("chat.transcript.permissions", { mode: nameOfMode(String(mode)) }),
      };
    }
    case CUSTOM_OMITTED: {
      const { bytes } = isRecord(entry.data) ? entry.data : {};
      return {
        kind: "note",
        key: entry.id,
        text: t("chat.transcript.anEntryOfIsToo", { size: sizeOf(bytes) }),
      };
    }
    case CUSTOM_TURN: {
      const { stopReason, error } = isRecord(entry.data) ? entry.data : {};
      if (stopReason === "aborted") {
        return { kind: "note", key: entry.id, text: t("chat.transcript.theTurnWasCanceled"), canceled: true };
      }
      return typeof error === "string" && error !== "" ? { kind: "error", key: entry.id, text: error } : null;
    }
    case CUSTOM_HOOK:
      return hookRow(entry);
    case CUSTOM_INSTRUCTIONS:
      return toldRow(entry, t("chat.transcript.instructionsLoaded"), namesIn(entry, "files", "path"));
    case CUSTOM_ENVIRONMENT:
      return null; // for the agent: people know where they are
    case CUSTOM_SKILLS:
      return toldRow(entry, t("chat.transcript.skillsAvailable"), namesIn(entry, "skills", "name"));
    default:
      return { kind: "unknown", key: entry.id, type: entry.customType };
  }
}

/** What a hook did; null where the transcript says it elsewhere. */
function hookRow(entry: CustomEntry): Row | null {
  const { outcome, hook, text } = isRecord(entry.data) ? entry.data : {};
  const values = { hook: String(hook), text: String(text) };
  switch (outcome) {
    case "denied":
      return { kind: "note", key: entry.id, text: t("chat.transcript.hookDenied", values) };
    case "asked":
      return { kind: "note", key: entry.id, text: t("chat.transcript.hookAsked", values) };
    case "failed":
      return { kind: "note", key: entry.id, text: t("chat.transcript.hookFailed", values) };
    default:
      return null;
  }
}

function sizeOf(bytes: unknown): string {
  if (typeof bytes !== "number") {
    return t("chat.transcript.unknownSize");
  }
  return sizeText(bytes);
}

/** Says what the session was told of its folder; nothing where it was told nothing. */
function toldRow(entry: CustomEntry, what: string, names: string[]): Row | null {
  return names.length > 0 ? { kind: "note", key: entry.id, text: `${what} ${names.join(", ")}.` } : null;
}

/** Reads one text of each element of a list in the entry's data; what is no such list has none. */
function namesIn(entry: CustomEntry, list: string, field: string): string[] {
  const elements = isRecord(entry.data) ? entry.data[list] : null;
  if (!Array.isArray(elements)) {
    return [];
  }
  return elements.flatMap((element) =>
    isRecord(element) && typeof element[field] === "string" ? [element[field]] : [],
  );
}

function sameRow(a: Row, b: Row): boolean {
  if (a.kind === "assistant" && b.kind === "assistant") {
    return a.message === b.message && sameTools(a.tools, b.tools);
  }
  if (a.kind === "user" && b.kind === "user") {
    return a.entry === b.entry;
  }
  if (a.kind === "result" && b.kind === "result") {
    return a.result === b.result;
  }
  return a.kind === b.kind && JSON.stringify(a) === JSON.stringify(b);
}
