// Tabs of one browser, each with a sender and an outbox, for the tests of the sender.
import { expect } from "vitest";
import { type Host, OfflineError } from "../src/api/contract";
import { openDb } from "../src/api/db";
import { NO_SESSION, type OutboxItem, type OutboxNews } from "../src/api/outbox";
import { Outbox } from "../src/link/outbox";
import { IdbOutbox } from "../src/link/outbox-store";
import { Sender } from "../src/link/sender";

export const DEVICE = "dev_1";

type Answer = (name: string, fields: Record<string, unknown>) => unknown;

/** The outboxes of tabs that are open at once. */
export class Tabs {
  readonly #open = new Set<{ onmessage: ((event: MessageEvent) => void) | null }>();

  join() {
    const tab = {
      onmessage: null as ((event: MessageEvent) => void) | null,
      postMessage: (data: OutboxNews) => {
        for (const other of this.#open) {
          if (other !== tab) {
            queueMicrotask(() => other.onmessage?.({ data: structuredClone(data) } as MessageEvent));
          }
        }
      },
      close: () => void this.#open.delete(tab),
    };
    this.#open.add(tab);
    return tab;
  }
}

/** Returns locks like a browser's: one holder of a name at a time. */
export function fakeLocks() {
  const held = new Map<string, Promise<unknown>>();
  const request = async (name: string, { signal }: { signal: AbortSignal }, work: () => Promise<unknown>) => {
    const before = held.get(name);
    if (before) {
      const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      await Promise.race([before, aborted]);
    }
    const done = work();
    held.set(name, done);
    return done;
  };
  return { request } as unknown as Pick<LockManager, "request">;
}

interface Tab {
  outbox: Outbox;
  sender: Sender;
  /** The requests to the host, as "send_prompt text". */
  asked: string[];
  wanted: Set<string>;
  news: OutboxNews[];
}

interface TabOptions {
  answer?: Answer;
  patience?: number;
  movePause?: number;
  tabs?: Tabs;
  locks?: Pick<LockManager, "request">;
  clientId?: string;
  /** Whether the disk rejects writes. */
  full?: boolean;
}

export async function openTab({ answer = () => ({ state: "taken" }), ...options }: TabOptions = {}): Promise<Tab> {
  const asked: string[] = [];
  const wanted = new Set<string>();
  const news: OutboxNews[] = [];
  const store = new IdbOutbox(await openDb());
  if (options.full) {
    store.put = () => Promise.reject(new DOMException("full", "QuotaExceededError"));
  }
  const outbox: Outbox = new Outbox({
    store,
    clientId: options.clientId ?? "cli_me",
    tell: (each) => news.push(each),
    changed: (elsewhere) => sender.changed(elsewhere),
    tabs: options.tabs?.join() ?? null,
  });
  const ask = async (name: string, fields: Record<string, unknown>) => {
    asked.push(`${name} ${fields.text ?? fields.sessionId ?? fields.clientKey}`);
    return answer(name, fields);
  };
  const sender: Sender = new Sender({
    outbox,
    ask: () => ask as unknown as Host["request"],
    want: (deviceId) => wanted.add(deviceId),
    locks: options.locks,
    ...(options.patience === undefined ? {} : { patience: options.patience }),
    ...(options.movePause === undefined ? {} : { movePause: options.movePause }),
  });
  await outbox.load();
  return { outbox, sender, asked, wanted, news };
}

let written = 0;

export function prompt(text: string, more: Partial<OutboxItem> = {}): OutboxItem {
  const clientKey = `key-${text}`;
  return { clientKey, deviceId: DEVICE, sessionId: "ses_1", text, createdAt: ++written, error: null, ...more };
}

export const start = (text: string) => prompt(text, { sessionId: NO_SESSION, start: { projectId: "prj_1" } });
export const offline = () => {
  throw new OfflineError("gone");
};
export const empty = ({ outbox }: Tab) => expect.poll(() => outbox.items).toEqual([]);
