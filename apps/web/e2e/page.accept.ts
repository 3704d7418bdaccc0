import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContextOptions, type Page, chromium as playwright } from "@playwright/test";
import { Forwarder } from "./forwarder";
import { test as base, expect } from "./harness";
import { appendMessages } from "./log";
import {
  blocked,
  distances,
  fps,
  heapOf,
  median,
  memoryOf,
  percentile,
  printTable,
  report,
  restart,
  throttle,
  until,
  watch,
  watched,
} from "./measures";
import { ModelServer, prose } from "./model-server";
import { chromium } from "./tools";
import { Visitor } from "./visitor";
import { hasScreen, type Tab, Window } from "./window";
import type { World } from "./world";

// `npm run accept` measures the figures of the page in docs/benchmarks.md, and prints them beside the targets. A slow
// machine fails nothing: a person reads the table.

const desk: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const rounds = Number(process.env.SCOREL_ROUNDS || 3);

const test = base.extend<{ model: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the required fixtures from the pattern
  model: async ({}, use) => {
    const server = new ModelServer();
    await use(await server.start());
    await server.stop();
  },
  options: async ({ model }, use) => {
    const provider = `[providers.local]\ntype = "openai"\nbase_url = "${model}"\n`;
    await use({
      config: `default_model = "m"\n${provider}[models.m]\nprovider = "local"\nid = "m"\ncontext_window = 2000000\n`,
    });
  },
});

test.describe.configure({ mode: "serial" });
test.setTimeout(1_800_000);

test.afterAll(printTable);

const whole = (n: number) => String(Math.round(n));
const seconds = (ms: number[]) => `${(median(ms) / 1000).toFixed(2)} s`;

/** Opens a session with this many messages, the last of them "The end.", in a browser that knows the machine. */
async function session(world: World, anna: Visitor, messages: number): Promise<string> {
  const sent = await world.scorel(["send", "--project", world.project, "write 5 at 1000"]);
  expect(sent, sent.stderr).toMatchObject({ code: 0 });
  await world.killHost();
  const texts = Array.from({ length: messages - 1 }, (_, i) => (i % 2 ? prose(60) : `Question ${i}: ${prose(8)}`));
  appendMessages(
    world.scorelHome,
    [...texts, "The end."].map((text, i, { length }) => {
      const content = [{ type: "text", text }];
      return i % 2 || i === length - 1 ? { role: "assistant", content, stopReason: "stop" } : { role: "user", content };
    }),
  );
  await world.startHost();
  await anna.pair();
  await anna.at("session-row").click();
  await expect(anna.page.getByText("The end.", { exact: true })).toBeVisible();
  return anna.sessionPath;
}

/** Empties the first tab: headless pages are all visible, and it would render the answer beside the measured one. */
async function empty(page: Page): Promise<void> {
  await page.goto("about:blank");
}

/** Opens a new tab, slowed down like a phone on a slow network. */
async function slowTab(anna: Visitor, text: string, network = true): Promise<Page> {
  const page = await anna.context.newPage();
  await throttle(page, { network });
  await watch(page, text);
  return page;
}

/** Waits until an answer streams. */
function streams(page: Page): Promise<unknown> {
  return until(page, "document.querySelector('[data-streaming]') !== null");
}

/** Waits until an answer has ended and the page is idle. */
async function ended(page: Page): Promise<void> {
  await until(page, "document.querySelector('[data-streaming], [data-testid=cancel-turn]') === null");
  await until(page, "new Promise((resolve) => requestIdleCallback(() => resolve(true)))");
}

function readable(page: Page): Promise<number> {
  return until<number>(page, "window.watch?.readable");
}

/** Waits until a prompt can be written. */
function usable(page: Page): Promise<unknown> {
  return until(page, "document.querySelector('[data-testid=composer]:enabled') !== null");
}

test("a session link, cold and warm", async ({ world, visitor }) => {
  const times = { cold: [] as number[], warm: [] as number[] };
  const blocking = { cold: [] as number[], warm: [] as number[] };
  const anna = await visitor(phone);
  const path = await session(world, anna, 200);
  for (let i = 0; i < rounds; i++) {
    for (const kind of ["cold", "warm"] as const) {
      if (kind === "cold") {
        await forgetShell(anna.page);
      }
      const page = await slowTab(anna, "The end.");
      await page.goto(world.url + path);
      times[kind].push(await readable(page));
      await usable(page);
      blocking[kind].push(blocked(await watched(page)));
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
      await page.close();
    }
  }
  report("session link until readable, cold / warm", "2.5 s / 1 s", `${seconds(times.cold)} / ${seconds(times.warm)}`);
  const both = `${whole(median(blocking.cold))} / ${whole(median(blocking.warm))} ms`;
  report("main thread blocked while opening, cold / warm", "300 ms", both);
});

/** Removes the page's own files and the copies from the browser; keys and devices stay. */
async function forgetShell(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (const registration of await navigator.serviceWorker.getRegistrations()) {
      await registration.unregister();
    }
    for (const name of await caches.keys()) {
      await caches.delete(name);
    }
    const opened = indexedDB.open("scorel-copies", 1);
    await new Promise<void>((resolve) => {
      opened.onerror = () => resolve();
      opened.onsuccess = () => {
        const tx = opened.result.transaction(["rows", "bodies"], "readwrite");
        tx.objectStore("rows").clear();
        tx.objectStore("bodies").clear();
        tx.oncomplete = () => resolve(opened.result.close());
      };
    });
  });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  await cdp.detach();
}

test("the initial script", () => {
  const size = fileURLToPath(new URL("../scripts/size.mjs", import.meta.url));
  const [, kilobytes = "?"] =
    /^first load: ([\d.]+) kB/m.exec(execFileSync("node", [size], { encoding: "utf8" })) ?? [];
  report("initial script, gzip", "at most 150 kB", `${kilobytes} kB`);
});

for (const [name, screen, target] of [
  ["desktop", desk, "50 fps, no task over 50 ms"],
  ["phone", phone, "30 fps, no task over 50 ms"],
] as const) {
  test(`300 deltas per second, ${name}`, async ({ world, visitor }) => {
    const anna = await visitor(screen);
    const path = await session(world, anna, 20);
    await empty(anna.page);
    const page = name === "phone" ? await slowTab(anna, "The end.") : await anna.context.newPage();
    if (name === "desktop") {
      await watch(page, "The end.");
    }
    await page.goto(world.url + path);
    await readable(page);
    const tab = anna.on(page);
    await expect(tab.at("composer")).toBeEnabled();
    await tab.prompt("write 3000 at 300");
    await streams(page);
    await restart(page);
    await ended(page);
    const notes = await watched(page);
    const longest = Math.max(0, ...notes.tasks);
    report(`300 deltas per second, ${name}`, target, `${whole(fps(notes))} fps, longest task ${whole(longest)} ms`);
  });
}

test("keystrokes while an answer streams, phone", async ({ world, visitor }) => {
  const anna = await visitor(phone);
  const path = await session(world, anna, 20);
  await empty(anna.page);
  const page = await slowTab(anna, "The end.");
  await page.goto(world.url + path);
  await readable(page);
  const tab = anna.on(page);
  await expect(tab.at("composer")).toBeEnabled();
  await tab.prompt("write 6000 at 300");
  await streams(page);
  await tab.at("composer").focus();
  await restart(page);
  // A person types eight letters per second.
  await page.keyboard.type("what a person types while they read, which is slow", { delay: 125 });
  await expect(tab.streaming, "it still streams").toBeVisible();
  const { keys } = await watched(page);
  const result = `p95 ${whole(percentile(keys, 0.95))} ms, longest ${whole(Math.max(0, ...keys))} ms`;
  report("keystroke while streaming, phone", "100 ms", result);
});

test("the heap of a short session", async ({ world, visitor }) => {
  const anna = await visitor(desk);
  const path = await session(world, anna, 200);
  const page = await anna.context.newPage();
  await watch(page, "The end.");
  await page.goto(world.url + path);
  await readable(page);
  await usable(page);
  report("200 entries: heap, for comparison", "", `${(await heapOf(page)).toFixed(1)} MB`);
});

test("100,000 entries", async ({ world, visitor }) => {
  const anna = await visitor(desk);
  const path = await session(world, anna, 100_000);
  const opened = { desk: [] as number[], phone: [] as number[] };
  let scroll: number[] = [];
  let heap = 0;
  for (let i = 0; i < rounds; i++) {
    for (const kind of ["desk", "phone"] as const) {
      const page = await anna.context.newPage();
      if (kind === "phone") {
        await throttle(page, { network: false });
      }
      await watch(page, "The end.");
      await page.goto(world.url + path);
      opened[kind].push(await readable(page));
      await usable(page);
      if (kind === "desk") {
        heap = await heapOf(page);
        await restart(page);
        await page.getByRole("region", { name: "Transcript" }).hover();
        for (let turn = 0; turn < 60; turn++) {
          await page.mouse.wheel(0, -400);
        }
        scroll = scroll.concat(distances(await watched(page)));
      }
      await page.close();
    }
  }
  const p95 = percentile(scroll, 0.95).toFixed(0);
  const result = `${seconds(opened.desk)} (${seconds(opened.phone)}) / ${p95} ms / ${heap.toFixed(1)} MB`;
  report("100,000 entries: open (phone) / scroll p95 frame / heap", "1 s (1.5 s) / 20 ms / 6.4 MB", result);
});

/**
 * Returns how long Chromium itself takes for tabs that are opened at once, in seconds: with a response without a
 * script.
 */
async function timeOfEmptyTabs(anna: Visitor, count: number): Promise<number> {
  const begun = Date.now();
  const pages = await Promise.all(
    Array.from({ length: count }, async () => {
      const page = await anna.context.newPage();
      await page.goto(`${anna.url}/healthz`);
      return page;
    }),
  );
  const took = (Date.now() - begun) / 1000;
  await Promise.all(pages.map((page) => page.close()));
  return took;
}

test("20 tabs, all in sight", async ({ browser, world, visitor }) => {
  const way = new Forwarder(world.port);
  try {
    const anna = await visitor(desk);
    anna.url = await way.start();
    const path = await session(world, anna, 200);
    const chromium = await timeOfEmptyTabs(anna, 20);
    const before = await memoryOf(browser);
    const connections = way.connections;
    const begun = Date.now();
    const tabs = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const tab = anna.on(await anna.context.newPage());
        await tab.open(path);
        await expect(tab.page.getByText("The end.", { exact: true })).toBeAttached();
        await expect(tab.at("composer")).toBeEnabled();
        return tab;
      }),
    );
    const took = (Date.now() - begun) / 1000;
    const each = ((await memoryOf(browser)) - before) / tabs.length;
    reportTabs("20 tabs, all in sight", { sockets: way.connections - connections, each, took, chromium });
  } finally {
    await way.stop();
  }
});

test("20 tabs in a window", async ({ world }, info) => {
  if (!hasScreen()) {
    return report("20 tabs in a window", "one connection, 60 MB per tab, 5 s", "not measured: it needs Xvfb");
  }
  const way = new Forwarder(world.port);
  const profile = mkdtempSync(join(tmpdir(), "scorel-window-"));
  const { args = [] } = info.project.use.launchOptions ?? {};
  try {
    const url = await way.start();
    const path = await inProfile(profile, args, async (page) => {
      const anna = new Visitor(world, page);
      anna.url = url;
      const opened = await session(world, anna, 200);
      await page.evaluate(() => navigator.serviceWorker.ready.then(() => null));
      return opened;
    });
    const window = await Window.open(profile, args);
    try {
      const { all: chromium } = await openTabs(window, `${url}/healthz`, "document.readyState === 'complete'", true);
      const before = await window.memory();
      const connections = way.connections;
      const { inSight, brought, all: took } = await openTabs(window, url + path, usableSession, false);
      const each = ((await window.memory()) - before) / 20;
      reportTabs("20 tabs in a window", {
        sockets: way.connections - connections,
        each,
        took,
        inSight,
        brought,
        chromium,
      });
    } finally {
      await window.close();
    }
  } finally {
    await way.stop();
    rmSync(profile, { recursive: true, force: true });
  }
});

/** Whether the page shows the end of the session and a prompt can be written. */
const usableSession = `document.querySelector("[data-testid=composer]:enabled") !== null &&
  [...document.querySelectorAll("[data-testid=message-assistant]")].at(-1)?.textContent?.includes("The end.")`;

/** Runs in a browser that keeps its profile in a folder. */
async function inProfile<T>(profile: string, args: string[], run: (page: Page) => Promise<T>): Promise<T> {
  const context = await playwright.launchPersistentContext(profile, { executablePath: chromium(), args, ...desk });
  try {
    return await run(context.pages()[0] ?? (await context.newPage()));
  } finally {
    await context.close();
  }
}

/**
 * Opens 20 tabs at once, the last one in sight. Returns seconds: until that one and until all are usable, and how long
 * one that was not usable by then takes when it is brought to the front.
 */
async function openTabs(window: Window, url: string, usable: string, close: boolean) {
  const begun = Date.now();
  const since = (start: number) => (Date.now() - start) / 1000;
  const tabs: Tab[] = [];
  let inSight = 0;
  let brought = 0;
  await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const tab = await window.tab(url, i === 19);
      tabs.push(tab);
      await tab.until(usable);
      if (i === 19) {
        inSight = since(begun);
        brought = await bringOne(tabs, usable);
      }
    }),
  );
  const all = since(begun);
  const seen = await Promise.all(tabs.map((tab) => tab.value<string>("document.visibilityState")));
  expect(seen.filter((state) => state === "visible")).toHaveLength(1);
  await Promise.all(tabs.map((tab) => (close ? tab.close() : null)));
  return { inSight, brought, all };
}

/** Brings a tab that is not usable yet to the front. Returns how long it takes to be usable, in seconds. */
async function bringOne(tabs: readonly Tab[], usable: string): Promise<number> {
  const ready = await Promise.all(tabs.map((tab) => tab.value<boolean>(usable).catch(() => false)));
  const waiting = tabs[ready.lastIndexOf(false)];
  const begun = Date.now();
  await waiting?.bring();
  await waiting?.until(usable);
  return (Date.now() - begun) / 1000;
}

interface TabFigures {
  /** How many connections the tabs added. */
  sockets: number;
  /** Megabytes. */
  each: number;
  /** Seconds until each of them can be used. */
  took: number;
  /** Seconds until the one in sight can be used, and one that is brought to the front then. */
  inSight?: number;
  brought?: number;
  /** The time of tabs without a script, in seconds. */
  chromium: number;
}

function reportTabs(row: string, { sockets, each, took, inSight, brought, chromium }: TabFigures): void {
  const first =
    inSight === undefined || brought === undefined
      ? ""
      : `${inSight.toFixed(1)} s for the one in sight, ${brought.toFixed(1)} s more for one brought to the front, `;
  const time = `${first}${took.toFixed(1)} s for all (without the page ${chromium.toFixed(1)} s)`;
  report(row, "one connection, 60 MB per tab, 5 s", `${sockets} connections more, ${whole(each)} MB per tab, ${time}`);
}

test("the machine", ({ browser }) => {
  const load = readFileSync("/proc/loadavg", "utf8").split(" ")[0];
  const cores = cpus();
  console.log(
    `${cores.length} cores (${cores[0]?.model}), load ${load}, headless Chromium ${browser.version()}, no GPU`,
  );
});
