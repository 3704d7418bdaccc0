// A host's session in memory: the log, the live part, the ring and resync, implemented in the plainest way, for
// comparison with the page's projection.
import { pathTo } from "@scorel/protocol/tree";
import type { WireEvent } from "../src/api/messages";
import type {
  Anchors,
  GetEntriesResponse,
  Live,
  Requests,
  ResyncEventsResponse,
  SessionEntry,
  SessionSummary,
} from "../src/api/types";

export class ModelSession {
  readonly id: string;
  readonly log: SessionEntry[] = [];
  readonly subscribers = new Set<(event: WireEvent) => void>();
  live: Live = emptied();
  /** How many events the ring holds. */
  ringSize = 40;
  /** How many entries one answer contains. */
  windowSize = 500;
  #ring: WireEvent[] = [];
  #seq = 0;
  #persistent = 0;
  #epoch = 1;
  #ids = 0;

  constructor(id: string) {
    this.id = id;
  }

  get summary(): SessionSummary {
    const messageCount = this.log.filter((e) => e.type === "message").length;
    return {
      id: this.id,
      projectId: "prj_1",
      name: "",
      createdAt: 1,
      updatedAt: messageCount,
      messageCount,
      running: this.live.turn !== null,
      model: "demo",
    };
  }

  /** Numbers an event and publishes it. The caller changes `live` and `log` itself. */
  publish(type: string, fields: object = {}): void {
    this.#seq++;
    const event = structuredClone({ type, sessionId: this.id, seq: this.#seq, ...fields });
    this.#ring.push(event);
    this.#ring = this.#ring.slice(-this.ringSize);
    for (const subscriber of [...this.subscribers]) {
      subscriber(structuredClone(event));
    }
  }

  append(fields: Record<string, unknown>): SessionEntry {
    const entry = {
      id: `e${++this.#ids}`,
      parentId: this.log.at(-1)?.id ?? null,
      timestamp: "2026-01-01T00:00:00.000Z",
      seq: this.#seq + 1,
      ...fields,
    } as SessionEntry;
    this.log.push(entry);
    this.#persistent = this.#seq + 1;
    const { message } = fields as { message?: { role?: string; toolCallId?: string } };
    if (message?.role === "assistant") {
      this.live.partial = [];
      delete this.live.retry;
    } else if (message?.role === "toolResult") {
      this.live.tools = this.live.tools.filter((t) => t.toolCallId !== message.toolCallId);
    }
    this.publish("entry_appended", { entry });
    return entry;
  }

  userMessage(text: string, clientKey: string, clientId: string): void {
    const message = { role: "user", content: [{ type: "text", text }], timestamp: 1 };
    this.append({ type: "message", message, clientKey, clientId });
  }

  endTurn(stopReason: string, error?: string): void {
    const turnId = this.live.turn?.turnId ?? "none";
    if (stopReason === "error") {
      this.append({ type: "custom", customType: "scorel.turn", data: { turnId, stopReason, error } });
    }
    delete this.live.unattended;
    delete this.live.retry;
    this.live = { ...this.live, turn: null, partial: [], tools: [], approvals: [], questions: [], crew: [] };
    this.publish("turn_ended", { turnId, clientKey: "", stopReason, ...(error ? { error } : {}) });
  }

  /** Restarts the host: only the log survives, not the ring. */
  restart(): void {
    this.subscribers.clear();
    this.#epoch++;
    this.#ring = [];
    this.#seq = this.#persistent;
    this.live = {
      turn: null,
      partial: [],
      tools: [],
      approvals: [],
      questions: [],
      queue: this.live.queue,
      work: null,
      crew: [],
      processes: [],
    };
  }

  resync(from: Anchors): ResyncEventsResponse {
    const epoch = `epoch${this.#epoch}`;
    const base = {
      session: this.summary,
      entries: [],
      events: [],
      live: this.live,
      anchors: { epoch, persistentLastSeq: this.#persistent, streamLastSeq: this.#seq },
    };
    const missed = this.#ring.filter((e) => (e.seq ?? 0) > from.streamLastSeq);
    if (from.epoch === epoch && from.streamLastSeq + missed.length === this.#seq) {
      const events = missed as unknown as ResyncEventsResponse["events"];
      // The live part is omitted deliberately: the events must suffice.
      return structuredClone({ ...base, mode: "stream_resume", events, live: emptied() });
    }
    const after = this.log.filter((e) => (e.seq ?? 0) > from.persistentLastSeq);
    if (from.epoch !== "" && from.persistentLastSeq <= this.#persistent && after.length <= this.windowSize) {
      return structuredClone({ ...base, mode: "persistent_fallback", entries: after });
    }
    return structuredClone({ ...base, mode: "full_reload", ...this.entries() });
  }

  /** Answers get_entries for a range in the middle. */
  place({ around, after = 0, before = 0 }: Requests["get_entries"]["request"]): GetEntriesResponse | null {
    const all = before === 0 ? this.log : this.log.filter((e) => (e.seq ?? 0) < before);
    const at = around ? all.findIndex((e) => e.id === around) : all.findIndex((e) => (e.seq ?? 0) > after);
    if (at < 0 && around) {
      return null;
    }
    const first = around ? Math.max(0, at - Math.floor(this.windowSize / 2)) : at < 0 ? all.length : at;
    const entries = all.slice(first, first + this.windowSize);
    const last = entries.at(-1);
    const path = new Set(pathTo(this.log).map((e) => e.id));
    const pathId = entries.findLast((e) => path.has(e.id))?.id;
    return structuredClone({
      entries,
      ...(around && first > 0 ? { before: entries[0]?.seq ?? 0 } : {}),
      ...(last && last !== all.at(-1) ? { after: last.seq ?? 0 } : {}),
      ...(pathId ? { pathId } : {}),
      ...(around && path.has(around) ? { onPath: true } : {}),
    });
  }

  /** Answers get_entries. */
  entries(before = 0): GetEntriesResponse {
    const all = before === 0 ? this.log : this.log.filter((e) => (e.seq ?? 0) < before);
    const entries = all.slice(-this.windowSize);
    const first = entries[0]?.seq ?? 0;
    return structuredClone({ entries, ...(entries.length < all.length ? { before: first } : {}) });
  }
}

function emptied(): Live {
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
