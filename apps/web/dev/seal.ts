// The page of `npm run bench`: two workers send to each other through the seal while the page records its own long
// tasks.
import type { Order, Payload, Report } from "./seal-worker";

export interface Row {
  payload: Payload;
  /** The size of a message, in bytes. */
  size: number;
  /** The throughput in millions of message bytes per second, from the host's end to the page's and back. */
  down: number;
  up: number;
  /** The longest delay of a timer in the page's worker, in milliseconds. */
  waited: number;
}

export interface Measured {
  rows: Row[];
  /** The longest task of the page, in milliseconds; 0 if none took 50. */
  task: number;
}

declare global {
  interface Window {
    measured: Promise<Measured>;
  }
}

/** The bytes of messages in each direction of a measurement, and the maximum number of messages. */
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

/** Sends in one direction; the time is the receiver's. */
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
