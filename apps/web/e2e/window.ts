import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { memoryOfProcesses } from "./measures";
import { chromium } from "./tools";

/** A virtual screen, which Debian's package "xvfb" brings. */
const xvfb = "/usr/bin/Xvfb";

/** Reports whether a browser with a window can run here. */
export function hasScreen(): boolean {
  return existsSync(xvfb);
}

interface Answer {
  id?: number;
  result?: never;
  error?: { message: string };
}

/**
 * A Chromium with a window, in which only one tab is in sight, as on a person's desk. Playwright keeps all of its tabs
 * in sight, so this one is driven directly.
 */
export class Window {
  readonly #screen: ChildProcess;
  readonly #browser: ChildProcess;
  readonly #waiting = new Map<number, { resolve(result: never): void; reject(error: Error): void }>();
  #last = 0;

  /** Opens a window with the profile in a folder. */
  static async open(profile: string, args: string[]): Promise<Window> {
    const screen = spawn(xvfb, ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"], {
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const [display] = (await once(screen.stdio[3] as Readable, "data")) as [Buffer];
    return new Window(screen, String(display).trim(), profile, args);
  }

  private constructor(screen: ChildProcess, display: string, profile: string, args: string[]) {
    this.#screen = screen;
    this.#browser = spawn(
      chromium(),
      [...args, `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"],
      {
        env: { ...process.env, DISPLAY: `:${display}` },
        stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      },
    );
    let text = "";
    (this.#browser.stdio[4] as Readable).setEncoding("utf8").on("data", (part: string) => {
      const messages = (text + part).split("\0");
      text = messages.pop() ?? "";
      for (const message of messages) {
        this.#take(JSON.parse(message) as Answer);
      }
    });
  }

  #take({ id = 0, result, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) {
      waiting?.reject(new Error(error.message));
    } else {
      waiting?.resolve(result as never);
    }
  }

  /** Sends a command to the browser, or to one of its tabs. */
  send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const message = JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) });
      (this.#browser.stdio[3] as Writable).write(`${message}\0`);
    });
  }

  /** Opens a tab, in sight or behind the others. */
  async tab(url: string, inSight: boolean): Promise<Tab> {
    const { targetId } = await this.send<{ targetId: string }>("Target.createTarget", { url, background: !inSight });
    const { sessionId } = await this.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    return new Tab(this, targetId, sessionId);
  }

  /** Returns the memory of all processes in megabytes; shared memory counts once. */
  async memory(): Promise<number> {
    const { processInfo } = await this.send<{ processInfo: { id: number }[] }>("SystemInfo.getProcessInfo");
    return memoryOfProcesses(processInfo);
  }

  async close(): Promise<void> {
    const ended = once(this.#browser, "exit");
    await this.send("Browser.close");
    await ended;
    this.#screen.kill();
    await once(this.#screen, "exit");
  }
}

/** One tab of a window. */
export class Tab {
  readonly #window: Window;
  readonly #target: string;
  readonly #session: string;

  constructor(window: Window, target: string, session: string) {
    this.#window = window;
    this.#target = target;
    this.#session = session;
  }

  /** Evaluates an expression in the page. */
  async value<T>(expression: string): Promise<T> {
    const params = { expression, returnByValue: true };
    const { result } = await this.#window.send<{ result: { value: T } }>("Runtime.evaluate", params, this.#session);
    return result.value;
  }

  /** Waits until an expression is true in the page. */
  async until(expression: string): Promise<void> {
    while (!(await this.value<boolean>(expression).catch(() => false))) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Brings it to the front. */
  async bring(): Promise<void> {
    await this.#window.send("Target.activateTarget", { targetId: this.#target });
  }

  async close(): Promise<void> {
    await this.#window.send("Target.closeTarget", { targetId: this.#target });
  }
}
