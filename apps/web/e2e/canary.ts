import { type BrowserContext, expect, type Page } from "@playwright/test";
import type { Recorder } from "./recorder";

/** A server that no test allows. */
const stranger = "stranger.test:4321";

/**
 * Detects the effects of hostile content in a browser: a call of `breached`, a dialog, a window, or anything that the
 * browser sends to another server, from a page or a worker.
 */
export class Canary {
  readonly #seen: string[] = [];
  readonly #recorder: Recorder;

  private constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  /** Watches a context, which reaches the network through the recorder. */
  static async watch(context: BrowserContext, recorder: Recorder): Promise<Canary> {
    const canary = new Canary(recorder);
    await context.exposeBinding("breached", (_, what) => canary.#seen.push(`ran: ${what}`));
    context.on("dialog", (dialog) => {
      canary.#seen.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    context.on("page", (page) => canary.#seen.push(`window: ${page.url()}`));
    return canary;
  }

  get breaches(): string[] {
    return [...this.#seen, ...this.#recorder.strangers.map((address) => `asked: ${address}`)];
  }

  /** Asserts that it detects effects, and forgets those that it caused. */
  async expectAwake(page: Page): Promise<void> {
    await page.evaluate((host) => {
      (window as unknown as { breached: (what: string) => void }).breached("check");
      new WebSocket(`ws://${host}`);
    }, stranger);
    const asked = `connect://${stranger}/`;
    await expect.poll(() => this.breaches).toEqual(["ran: check", `asked: ${asked}`]);
    this.#seen.length = 0;
    this.#recorder.forget(asked);
    // The page's own connection belongs to a shared worker.
    await expect.poll(() => this.#recorder.frames.length).toBeGreaterThan(0);
  }
}

/**
 * Returns the parts of the page that could run or fetch something: elements, handlers and addresses that text must not
 * become.
 */
export function livePartsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const banned = "script, iframe, frame, object, embed, applet, base, meta, link, style, foreignObject, animate, set";
    const found = [...document.body.querySelectorAll(banned)].filter(
      (each) => !(each.matches("style") && each.closest("[data-testid=terminal-screen]")),
    );
    const bad = (address: string) =>
      !/^data:image\/(png|jpeg|gif|webp);/.test(address) &&
      !/^(https?|mailto|blob):$/.test(new URL(address, location.href).protocol);
    const parts = [...document.body.querySelectorAll("*")].flatMap((each) =>
      [...each.attributes]
        .filter(({ name, value }) => {
          const address = /^(href|src|srcset|action|formaction|xlink:href|poster)$/.test(name);
          return name.startsWith("on") || name === "srcdoc" || (address && bad(value));
        })
        .map(({ name, value }) => `${each.tagName} ${name}=${value}`),
    );
    return [...found.map((each) => each.outerHTML.slice(0, 120)), ...parts];
  });
}
