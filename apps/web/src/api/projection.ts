// An entry's projection of a session's events. It is pure: the same events give the same state, and after any resync
// the state equals that of a fresh load. The host projects by the same rules (api.Live.Apply).
import { SAVED_EPOCH, type SessionCopy } from "./copies";
import type { WireEvent } from "./messages";
import {
  type Anchors,
  CUSTOM_PROCESS,
  type GetEntriesResponse,
  type Live,
  MAX_TOOL_TAIL,
  type ModelRetry,
  type PartialBlock,
  type Process,
  type ProcessRecord,
  type ResyncEventsResponse,
  type RunningTool,
  type SessionEntry,
  type SessionEvent,
  type SessionSummary,
  type SubagentBatch,
  type SubagentChild,
} from "./types";

export interface Projection {
  summary: SessionSummary | null;
  /** The end of the log in file order, as far back as fetched. */
  entries: SessionEntry[];
  /** The cursor for the entries before `entries`; 0 when there are none. */
  before: number;
  live: Live;
  anchors: Anchors;
}

export function emptyLive(): Live {
  return {
    turn: null,
    partial: [],
    tools: [],
    approvals: [],
    questions: [],
    queue: [],
    work: null,
    crew: [],
    processes: [],
  };
}

/** Returns the state of an unknown session: its anchors request a full reload. */
export function emptyProjection(): Projection {
  return {
    summary: null,
    entries: [],
    before: 0,
    live: emptyLive(),
    anchors: { epoch: "", persistentLastSeq: 0, streamLastSeq: 0 },
  };
}

/** Returns the state of a stored copy. A resync then brings the live state and the entries that followed. */
export function fromCopy(copy: SessionCopy, told: SessionSummary | null = null): Projection {
  const { summary, entries, before, last } = copy;
  const anchors = { epoch: SAVED_EPOCH, persistentLastSeq: last, streamLastSeq: 0 };
  return { ...emptyProjection(), summary: told ?? summary, entries, before, anchors };
}

/**
 * Applies one event. An event that was already applied changes nothing; one of an unknown type only advances the
 * sequence.
 */
export function project(state: Projection, event: WireEvent): Projection {
  return projectAll(state, [event]);
}

/** Applies events in order. A long log is copied once, however many events there are. */
export function projectAll(state: Projection, events: readonly WireEvent[]): Projection {
  const appended: SessionEntry[] = [];
  const next = events.reduce((before, event) => projectOne(before, event, appended), state);
  return appended.length === 0 ? next : { ...next, entries: [...state.entries, ...appended] };
}

/** Applies one event, except that its entry is added to `appended`. */
function projectOne(state: Projection, event: WireEvent, appended: SessionEntry[]): Projection {
  const seq = event.seq ?? 0;
  if (seq <= state.anchors.streamLastSeq) {
    return state;
  }
  const known = event as unknown as SessionEvent;
  const anchors = { ...state.anchors, streamLastSeq: seq };
  if (known.type !== "entry_appended") {
    return { ...state, anchors, live: projectLive(state.live, known) };
  }
  anchors.persistentLastSeq = seq;
  appended.push(known.entry);
  return { ...state, anchors, live: afterEntry(state.live, known.entry) };
}

/** Applies the answer to resync_events. */
export function applyResync(state: Projection, response: ResyncEventsResponse): Projection {
  const { mode, session: summary, anchors } = response;
  switch (mode) {
    case "stream_resume":
      return { ...projectAll(state, (response.events ?? []) as unknown as WireEvent[]), summary, anchors };
    case "persistent_fallback":
      return {
        summary,
        entries: [...state.entries, ...(response.entries ?? [])],
        before: state.before,
        live: completeLive(response.live),
        anchors,
      };
    default:
      return {
        summary,
        entries: response.entries ?? [],
        before: response.before ?? 0,
        live: completeLive(response.live),
        anchors,
      };
  }
}

/** Applies the answer to get_entries that was requested with the state's cursor. */
export function prependEntries(state: Projection, response: GetEntriesResponse): Projection {
  return {
    ...state,
    entries: [...(response.entries ?? []), ...state.entries],
    before: response.before ?? 0,
  };
}

/** A host of another version may omit a list. */
function completeLive(live: Live | undefined): Live {
  const empty = emptyLive();
  return {
    turn: live?.turn ?? null,
    partial: live?.partial ?? empty.partial,
    tools: live?.tools ?? empty.tools,
    approvals: live?.approvals ?? empty.approvals,
    questions: live?.questions ?? empty.questions,
    queue: live?.queue ?? empty.queue,
    work: live?.work ?? null,
    crew: live?.crew ?? empty.crew,
    processes: live?.processes ?? empty.processes,
    ...(live?.retry ? { retry: live.retry } : {}),
    ...(live?.unattended ? { unattended: true } : {}),
  };
}

function afterEntry(live: Live, entry: SessionEntry): Live {
  if (entry.type === "custom" && entry.customType === CUSTOM_PROCESS) {
    const id = (entry.data as Partial<ProcessRecord> | undefined)?.operationId;
    return { ...live, processes: live.processes.filter((process) => process.last.operationId !== id) };
  }
  if (entry.type !== "message") {
    return live;
  }
  const { message } = entry;
  switch (message.role) {
    case "assistant":
      return retried({ ...live, partial: [] });
    case "toolResult":
      return { ...live, tools: live.tools.filter((tool) => tool.toolCallId !== message.toolCallId) };
    default:
      return live;
  }
}

function projectLive(live: Live, event: Exclude<SessionEvent, { type: "entry_appended" }>): Live {
  switch (event.type) {
    case "turn_started":
      return { ...live, turn: event.turn };
    case "turn_cancelling":
      return live.turn?.turnId === event.turnId ? { ...live, turn: { ...live.turn, cancelling: true } } : live;
    case "turn_ended":
      return attended(
        retried({ ...live, turn: null, partial: [], tools: [], approvals: [], questions: [], crew: [] }),
        false,
      );
    case "message_started":
      return retried({ ...live, partial: [] });
    case "message_reset":
      return retried({ ...live, partial: [] }, event.retry);
    case "block_started":
      return retried({ ...live, partial: startBlock(live.partial, event) });
    case "block_delta":
      return { ...live, partial: growBlock(live.partial, event.index, event.delta) };
    case "tool_started":
      return {
        ...live,
        tools: [...live.tools, { toolCallId: event.toolCallId, toolName: event.toolName, output: "" }],
      };
    case "tool_output":
      return { ...live, tools: growTool(live.tools, event.toolCallId, event.delta) };
    case "process_event":
      return { ...live, processes: withProcess(live.processes, event.process) };
    case "approval_requested":
      return { ...live, approvals: [...live.approvals.filter((a) => a.id !== event.approval.id), event.approval] };
    case "approval_resolved":
      return { ...live, approvals: live.approvals.filter((a) => a.id !== event.approvalId) };
    case "question_asked":
      return { ...live, questions: [...live.questions.filter((q) => q.id !== event.question.id), event.question] };
    case "question_answered":
      return { ...live, questions: live.questions.filter((q) => q.id !== event.questionId) };
    case "attendance_changed":
      return attended(live, event.unattended);
    case "crew_started":
      return { ...live, crew: [...withoutBatch(live.crew, event.batch.toolCallId), event.batch] };
    case "crew_updated":
      return { ...live, crew: updateSubagents(live.crew, event.toolCallId, event.index, event.child) };
    case "crew_ended":
      return { ...live, crew: withoutBatch(live.crew, event.toolCallId) };
    case "work_started":
      return { ...live, work: event.work };
    case "work_ended":
      return { ...live, work: null };
    case "queue_changed":
      return { ...live, queue: event.queue ?? [] };
    default:
      return live;
  }
}

/** A host omits the field while a person is present. */
function attended({ unattended: _, ...live }: Live, unattended: boolean): Live {
  return unattended ? { ...live, unattended } : live;
}

/** Returns the live state with the retry that follows a failed attempt, if any. */
function retried({ retry: _, ...live }: Live, retry?: ModelRetry): Live {
  return retry ? { ...live, retry } : live;
}

function withoutBatch(crew: SubagentBatch[], toolCallId: string): SubagentBatch[] {
  return crew.filter((batch) => batch.toolCallId !== toolCallId);
}

function updateSubagents(
  crew: SubagentBatch[],
  toolCallId: string,
  index: number,
  child: SubagentChild,
): SubagentBatch[] {
  return crew.map((batch) =>
    batch.toolCallId === toolCallId
      ? { ...batch, children: batch.children.map((each, i) => (i === index ? child : each)) }
      : batch,
  );
}

function withProcess(processes: Process[], changed: Process): Process[] {
  const same = (process: Process) => process.last.operationId === changed.last.operationId;
  return processes.some(same)
    ? processes.map((process) => (same(process) ? changed : process))
    : [...processes, changed];
}

function startBlock(partial: PartialBlock[], event: SessionEvent & { type: "block_started" }): PartialBlock[] {
  const { index, block, id, name } = event;
  if (index !== partial.length) {
    return partial;
  }
  return [...partial, { type: block, text: "", ...(id ? { id } : {}), ...(name ? { name } : {}) }];
}

function growBlock(partial: PartialBlock[], index: number, delta: string): PartialBlock[] {
  const block = partial[index];
  if (!block) {
    return partial;
  }
  const next = partial.slice();
  next[index] = { ...block, text: block.text + delta };
  return next;
}

function growTool(tools: RunningTool[], toolCallId: string, delta: string): RunningTool[] {
  return tools.map((tool) =>
    tool.toolCallId === toolCallId ? { ...tool, output: tailBytes(tool.output + delta, MAX_TOOL_TAIL) } : tool,
  );
}

/** Returns the longest end of the text that fits `limit` bytes of UTF-8, cut between characters. */
export function tailBytes(text: string, limit: number): string {
  // A code unit takes at most three bytes.
  if (text.length * 3 <= limit) {
    return text;
  }
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= limit) {
    return text;
  }
  let at = bytes.length - limit;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) {
    at++;
  }
  return new TextDecoder().decode(bytes.subarray(at));
}
