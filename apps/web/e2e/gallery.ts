import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test as base, expect, type Page, type Request } from "@playwright/test";
import { build, preview } from "vite";
import type { Sight } from "./sight";

// The app on made-up data (dev/), built once for each worker: states that a real host rarely shows, to be viewed and
// measured.

interface Fixtures {
  /** Opens a scene of dev/scenes.ts and performs the actions of the sight. */
  show: (sight: Sight) => Promise<void>;
}

export const test = base.extend<Fixtures, { gallery: string }>({
  gallery: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the required fixtures from the pattern
    async ({}, use) => {
      const outDir = mkdtempSync(join(tmpdir(), "scorel-gallery-"));
      const root = fileURLToPath(new URL("..", import.meta.url));
      const common = { root, logLevel: "error", publicDir: false } as const;
      await build({
        ...common,
        build: {
          outDir,
          emptyOutDir: true,
          rolldownOptions: { input: ["index", "seal"].map((page) => join(root, `dev/${page}.html`)) },
        },
      });
      const server = await preview({ ...common, build: { outDir }, preview: { host: "127.0.0.1", port: 0 } });
      await use(server.resolvedUrls?.local[0] ?? "");
      await server.close();
      rmSync(outDir, { recursive: true, force: true });
    },
    { scope: "worker", timeout: 120_000 },
  ],
  show: async ({ gallery, page }, use) => {
    await page.emulateMedia({ reducedMotion: "reduce" });
    // A draft of the previous scene would be appended to the text that a sight types, whenever it is read.
    await page.addInitScript(() => {
      if (location.protocol.startsWith("http")) {
        indexedDB.deleteDatabase("scorel-drafts");
      }
    });
    const scripts = watchScripts(page);
    await use(async ({ scene, act }) => {
      scripts.forget();
      await page.goto(`${gallery}dev/?scene=${scene}`);
      await page
        .getByRole("heading", { level: 1 })
        .or(page.getByRole("heading", { level: 2 }))
        .first()
        .waitFor();
      // Code that is loaded after the first rows, such as that of the cards.
      await scripts.loaded();
      await act?.(page);
      await scripts.loaded();
      await settled(page);
    });
  },
});

/** Follows the scripts that a page is waiting for, without those of workers, whose end is not reported. */
function watchScripts(page: Page) {
  const open = new Set<Request>();
  page.on("request", (request) => isScript(request) && open.add(request));
  page.on("requestfinished", (request) => open.delete(request));
  page.on("requestfailed", (request) => open.delete(request));
  return {
    /** Forgets those of the page that is left: not all of them are reported as failed. */
    forget: () => open.clear(),
    loaded: async () => {
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 1000 })));
      await expect.poll(() => [...open].map((each) => each.url()), { intervals: [20] }).toEqual([]);
    },
  };
}

const isScript = (request: Request) => request.resourceType() === "script" && !request.url().includes("worker");

/**
 * Waits until the page has not changed for a moment: grammars and lazy sheets load late. A change of the screen reaches
 * the page's own listeners before the next frame, which may be late on a busy machine.
 */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    async () => {
      const size = () => document.body.outerHTML.length;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const before = size();
      await new Promise((resolve) => setTimeout(resolve, 120));
      return size() === before;
    },
    undefined,
    { polling: 10 },
  );
}

/** Replaces the mouse of a page with a touch screen. Returns a function that restores the mouse. */
export async function touched(page: Page): Promise<() => Promise<void>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true });
  await expect.poll(() => page.evaluate(() => matchMedia("(pointer: coarse)").matches)).toBe(true);
  return async () => {
    await cdp.send("Emulation.setTouchEmulationEnabled", { enabled: false });
    await cdp.detach();
  };
}

export const screens = {
  /** A small phone, and a wide screen at 400 %. */
  narrow: { viewport: { width: 320, height: 568 }, hasTouch: true, isMobile: true },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desk: { viewport: { width: 1280, height: 800 } },
} as const;
