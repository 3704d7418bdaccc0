import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { scorel } from "./tools";

/** The timeout for a process to become ready and to end, in milliseconds. */
const patience = 60_000;

/** The whole environment of a process; nothing from the tester's own, and no key of a real model. */
export type Surroundings = Record<string, string>;

/** One running scorel process, ended by its own process id. */
export class Running {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<() => void>();
  /** The first word of its command. */
  readonly command: string;
  #errors = "";
  #ended = false;

  constructor(args: string[], env: Surroundings) {
    this.command = args[0] ?? "";
    this.#child = spawn(scorel(), args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const { stdout, stderr } = this.#child;
    if (!stdout || !stderr) {
      throw new Error("the process has no pipes");
    }
    createInterface({ input: stdout }).on("line", (line) => {
      this.#lines.push(line);
      this.#wake();
    });
    stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#child.on("close", () => {
      this.#ended = true;
      this.#wake();
    });
    this.#child.on("error", (cause) => {
      this.#errors += String(cause);
      this.#ended = true;
      this.#wake();
    });
  }

  /** Its standard error, which is its log. */
  get log(): string {
    return this.#errors;
  }

  get output(): string {
    return this.#lines.join("\n");
  }

  /** Returns the first line of standard output, present or future, for which `pick` returns a value. */
  async line<T>(pick: (line: string) => T | null): Promise<T> {
    const end = Date.now() + patience;
    for (let next = 0; ; ) {
      for (; next < this.#lines.length; next++) {
        const found = pick(this.#lines[next] ?? "");
        if (found !== null) {
          return found;
        }
      }
      if (this.#ended || Date.now() > end) {
        throw new Error(`${this.#child.spawnargs.join(" ")} did not say what was waited for:\n${this.#errors}`);
      }
      await this.#change(end - Date.now());
    }
  }

  /** Ends it as Ctrl-C does; it must exit by itself, without an error. */
  async stop(): Promise<void> {
    if (this.#ended) {
      return;
    }
    this.#child.kill("SIGTERM");
    const end = Date.now() + patience;
    while (!this.#ended && Date.now() < end) {
      await this.#change(end - Date.now());
    }
    if (!this.#ended) {
      await this.kill();
      throw new Error(`${this.#child.spawnargs.join(" ")} did not end within ${patience} ms:\n${this.#errors}`);
    }
    if (this.#child.exitCode !== 0) {
      throw new Error(`${this.#child.spawnargs.join(" ")} ended with ${this.#child.exitCode}:\n${this.#errors}`);
    }
  }

  /** Ends it at once and without notice, as a crash does. */
  async kill(): Promise<void> {
    if (this.#ended) {
      return;
    }
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }

  /** Waits until it has ended by itself and returns its exit code. */
  async exit(): Promise<number | null> {
    const end = Date.now() + patience;
    while (!this.#ended && Date.now() < end) {
      await this.#change(end - Date.now());
    }
    if (!this.#ended) {
      throw new Error(`${this.#child.spawnargs.join(" ")} is still running`);
    }
    return this.#child.exitCode;
  }

  /** Waits for a line, the end, or `most` milliseconds. */
  #change(most: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(1, most));
      this.#waiting.add(done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiting]) {
      done();
    }
  }
}

/** Parses a line of JSON that has the key; null for any other line. */
export function json<T extends object>(key: keyof T & string): (line: string) => T | null {
  return (line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === "object" && value !== null && key in value ? (value as T) : null;
    } catch {
      return null;
    }
  };
}

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one scorel command to its end; `input` is its standard input. */
export function run(args: string[], env: Surroundings, input = ""): Promise<Outcome> {
  const options = { env, timeout: 2 * patience, maxBuffer: 64 << 20 };
  return new Promise((resolve, reject) => {
    const child = execFile(scorel(), args, options, (error, stdout, stderr) => {
      if (error && child.exitCode === null) {
        reject(error);
      } else {
        resolve({ code: child.exitCode ?? 0, stdout, stderr });
      }
    });
    child.stdin?.on("error", () => {}); // a command that rejects its arguments reads nothing
    child.stdin?.end(input);
  });
}

/** Returns an unused port of this machine. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") {
    throw new Error("the socket has no port");
  }
  return address.port;
}
