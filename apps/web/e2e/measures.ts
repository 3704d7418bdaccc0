import { readFileSync } from "node:fs";
import type { Browser, CDPSession, Page } from "@playwright/test";

/** Chromium's own "Slow 4G" for one request at a time. An open socket is not slowed down. */
const slow4G = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };

/** Simulates a mid-range phone on a slow network. */
export async function throttle(page: Page, { network = true } = {}): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  if (network) {
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", slow4G);
  }
  return cdp;
}

interface Watch {
  /** Milliseconds from the start of the navigation until the text was visible. */
  readable: number;
  /** The long tasks, each in milliseconds. */
  tasks: number[];
  frames: number[];
  /** From a key press until its effect was painted, in milliseconds. */
  keys: number[];
}

declare global {
  interface Window {
    watch: Watch;
  }
}

/**
 * Records in every page that opens from now on when `text` becomes visible, and the duration of tasks, frames and keys.
 */
export function watch(page: Page, text: string): Promise<unknown> {
  return page.addInitScript((sought) => {
    const noted: Watch = { readable: 0, tasks: [], frames: [], keys: [] };
    window.watch = noted;
    new PerformanceObserver((list) => {
      noted.tasks.push(...list.getEntries().map((each) => each.duration));
    }).observe({ type: "longtask", buffered: true });
    new PerformanceObserver((list) => {
      const keys = list.getEntries().filter((each) => each.name === "keydown");
      noted.keys.push(...keys.map((each) => each.duration));
    }).observe({ type: "event", buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
    const frame = (now: number) => {
      noted.frames.push(now);
      const rows = document.querySelectorAll("[data-testid=message-assistant]");
      if (!noted.readable && rows.item(rows.length - 1)?.textContent?.includes(sought)) {
        noted.readable = performance.now();
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }, text);
}

/**
 * Waits until an expression has a value that is not false, and returns it. Playwright's own queries would add two copies
 * of its scripts to the page, which take more than 1 MB of heap, and tasks of some 50 ms to a slow CPU.
 */
export async function until<T>(page: Page, expression: string): Promise<T> {
  const cdp = await page.context().newCDPSession(page);
  for (;;) {
    const { result } = await cdp.send("Runtime.evaluate", {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (result.value) {
      await cdp.detach();
      return result.value as T;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export async function watched(page: Page): Promise<Watch> {
  return page.evaluate(() => window.watch);
}

/** Restarts the recording in an open page. */
export function restart(page: Page): Promise<void> {
  return page.evaluate(() => {
    for (const list of [window.watch.tasks, window.watch.frames, window.watch.keys]) {
      list.length = 0;
    }
  });
}

/** Returns how long the main thread was blocked: the part of each task over 50 ms. */
export function blocked({ tasks }: Watch): number {
  return sum(tasks.map((task) => Math.max(0, task - 50)));
}

export function fps({ frames }: Watch): number {
  return ((frames.length - 1) * 1000) / ((frames.at(-1) ?? 0) - (frames[0] ?? 0));
}

/** Returns the distances between frames, in milliseconds. */
export function distances({ frames }: Watch): number[] {
  return frames.slice(1).map((at, i) => at - (frames[i] ?? 0));
}

export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

export function median(values: number[]): number {
  return percentile(values, 0.5);
}

export function sum(values: number[]): number {
  return values.reduce((all, each) => all + each, 0);
}

/** Returns the page's heap after a collection, in megabytes. */
export async function heapOf(page: Page): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  await cdp.detach();
  return usedSize / 1e6;
}

/** Returns the memory of all processes of a browser in megabytes; shared memory counts once. */
export async function memoryOf(browser: Browser): Promise<number> {
  const cdp = await browser.newBrowserCDPSession();
  const { processInfo } = await cdp.send("SystemInfo.getProcessInfo");
  await cdp.detach();
  return memoryOfProcesses(processInfo);
}

/** Returns the memory of processes in megabytes; memory that they share counts once. */
export function memoryOfProcesses(processes: readonly { id: number }[]): number {
  return sum(processes.map(({ id }) => Number(/^Pss:\s+(\d+)/m.exec(rollupOf(id))?.[1] ?? 0))) / 1000;
}

/** Returns what Linux knows of a process's memory; nothing if it has just ended. */
function rollupOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
  } catch {
    return "";
  }
}

interface Row {
  what: string;
  target: string;
  result: string;
}

const rows: Row[] = [];

export function report(what: string, target: string, result: string): void {
  rows.push({ what, target, result });
}

export function printTable(): void {
  const lines = rows.map(({ what, target, result }) => `| ${what} | ${target} | ${result} |`);
  console.log(["", "| what | target | result |", "|---|---|---|", ...lines, ""].join("\n"));
}
