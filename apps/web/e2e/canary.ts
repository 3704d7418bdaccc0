import { type BrowserContext, expect, type Page } from "@playwright/test";

/**
 * Detects the effects of hostile content in a browser: a call of `breached`, a dialog, a window, or a request to
 * another server.
 */
export class Canary {
  readonly breaches: string[] = [];
  readonly #url: URL;

  private constructor(url: string) {
    this.#url = new URL(url);
  }

  static async watch(context: BrowserContext, url: string): Promise<Canary> {
    const canary = new Canary(url);
    await context.exposeBinding("breached", (_, what) => canary.breaches.push(`ran: ${what}`));
    context.on("dialog", (dialog) => {
      canary.breaches.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    context.on("request", (request) => canary.#asked(request.url()));
    context.on("page", (page) => canary.#opened(page));
    for (const page of context.pages()) {
      page.on("websocket", (socket) => canary.#asked(socket.url()));
    }
    return canary;
  }

  /** Asserts that it detects effects. */
  async expectAwake(page: Page): Promise<void> {
    await page.evaluate(() => (window as unknown as { breached: (what: string) => void }).breached("check"));
    await expect.poll(() => this.breaches.splice(0)).toEqual(["ran: check"]);
  }

  #opened(page: Page): void {
    this.breaches.push(`window: ${page.url()}`);
    page.on("websocket", (socket) => this.#asked(socket.url()));
  }

  #asked(address: string): void {
    const { protocol, host } = new URL(address);
    if (host !== this.#url.host && protocol !== "data:" && protocol !== "blob:") {
      this.breaches.push(`asked: ${address}`);
    }
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
