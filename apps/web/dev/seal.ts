// The page of `npm run bench`: two workers send to each other through the seal while
// the page watches for long tasks of its own.
import type { Order, Payload, Report } from "./seal-worker";

export interface Row {
  payload: Payload;
  /** Bytes of a message. */
  size: number;
  /** Millions of message bytes a second, from the host's end to the page's and back. */
  down: number;
  up: number;
  /** The longest time in ms that a timer in the page's worker had to wait. */
  waited: number;
}

export interface Measured {
  rows: Row[];
  /** The longest task of the page in ms; 0 when none took 50. */
  task: number;
}

declare global {
  interface Window {
    measured: Promise<Measured>;
  }
}

/** Bytes of messages in each direction of a measurement, and how many messages at most. */
const VOLUME = 32 << 20;
const MESSAGES = 4096;

const volume = (size: number) => Math.min(MESSAGES, Math.floor(VOLUME / size)) * size;

function ask(worker: Worker, order: Order, transfer: Transferable[] = []): Promise<Report> {
  return new Promise((resolve, reject) => {
    worker.onerror = (e) => reject(new Error(e.message));
    worker.onmessage = ({ data }: MessageEvent<Report>) => resolve(data);
    worker.postMessage(order, transfer);
  });
}

/** Sends one way; the time is the receiver's. */
async function pass(from: Worker, to: Worker, payload: Payload, size: number): Promise<[Report, Report]> {
  const received = ask(to, { t: "receive", volume: volume(size) });
  const sent = await ask(from, { t: "send", payload, size, volume: volume(size) });
  return [sent, await received];
}

async function measure(): Promise<Measured> {
  let task = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      task = Math.max(task, entry.duration);
    }
  }).observe({ type: "longtask" });
  const start = () => new Worker(new URL("./seal-worker.ts", import.meta.url), { type: "module" });
  const [host, page] = [start(), start()];
  const { port1, port2 } = new MessageChannel();
  await Promise.all([
    ask(host, { t: "connect", kind: "dev", port: port1 }, [port1]),
    ask(page, { t: "connect", kind: "cli", port: port2 }, [port2]),
  ]);
  const rows: Row[] = [];
  const rate = (r: Report, size: number) => volume(size) / 1000 / r.took;
  for (const size of [1 << 10, 16 << 10, 64 << 10, 1 << 20]) {
    for (const payload of ["text", "image"] as const) {
      const [, down] = await pass(host, page, payload, size);
      const [sent, up] = await pass(page, host, payload, size);
      const waited = Math.max(down.waited, sent.waited);
      rows.push({ payload, size, down: rate(down, size), up: rate(up, size), waited });
    }
  }
  return { rows, task };
}

window.measured = measure();
