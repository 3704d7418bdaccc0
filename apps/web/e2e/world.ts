import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, json, type Outcome, Running, run, type Surroundings } from "./process";

export interface WorldOptions {
  /** The processes at the start of the test: a relay and a host, a host alone that serves the page itself, or none. */
  parts?: "both" | "listener" | "none";
  /** Names that the relay serves besides its own address; {port} stands for its port. */
  publicUrls?: string[];
  /** The host's config.toml. */
  config?: string;
  /** Connects the host to another relay as well, which allows pages of the first one to connect, or does not. */
  second?: "allowed" | "refused";
}

/** The contents of every world's project, for the demo model to read. */
export const readme = "# Lighthouse\n\nA small project that exists to be read.\nIts lamp turns once in ten seconds.\n";

/**
 * A relay and a host, each a separate process, and their folders. After a restart, the relay has the same port and
 * data, the host the same home.
 */
export class World {
  readonly #root = mkdtempSync(join(tmpdir(), "scorel-e2e-"));
  /** The person's home folder on the host, where browsing folders begins. */
  readonly home = join(this.#root, "home");
  /** The scorel home: identity, sessions, logs. */
  readonly scorelHome = join(this.home, ".scorel");
  readonly project = join(this.home, "code", "lighthouse");
  readonly relayData = join(this.#root, "relay");
  readonly #options: WorldOptions;
  readonly #past: Running[] = [];
  #port = 0;
  #relay: Running | null = null;
  #secondPort = 0;
  #second: Running | null = null;
  #host: Running | null = null;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    mkdirSync(this.project, { recursive: true });
    mkdirSync(join(this.home, "music"));
    mkdirSync(this.scorelHome, { mode: 0o700 });
    if (options.config) {
      writeFileSync(join(this.scorelHome, "config.toml"), options.config);
    }
    writeFileSync(join(this.project, "README.md"), readme);
    writeFileSync(
      join(this.project, "lamp.go"),
      "package lamp\n\n// Period is how long one turn takes, in seconds.\nconst Period = 10\n",
    );
  }

  /** The address of the relay, or of the host's listener, which also serves the page. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** The address of the second relay. */
  get secondUrl(): string {
    return `http://127.0.0.1:${this.#secondPort}`;
  }

  get port(): number {
    return this.#port;
  }

  get env(): Surroundings {
    return { PATH: process.env.PATH ?? "", HOME: this.home, SCOREL_HOME: this.scorelHome };
  }

  /** Starts the processes that the options name. */
  async begin(): Promise<void> {
    if (this.#options.parts === "none") {
      return;
    }
    if (this.#options.parts !== "listener") {
      await this.startRelay();
    }
    if (this.#options.second) {
      await this.startSecondRelay();
    }
    await this.startHost();
  }

  async startRelay(): Promise<void> {
    this.#port ||= await freePort();
    const names = (this.#options.publicUrls ?? []).map((url) => url.replace("{port}", String(this.#port)));
    const relay = this.#start([
      ...["relay", "serve", "--listen", `127.0.0.1:${this.#port}`, "--data-dir", this.relayData],
      ...names.flatMap((url) => ["--public-url", url]),
      ...["--json", "--log-format", "json", "--log-level", "debug"],
    ]);
    this.#relay = relay;
    await relay.line(json<{ ready: boolean }>("ready"));
  }

  async startSecondRelay(): Promise<void> {
    this.#secondPort ||= await freePort();
    const relay = this.#start([
      ...["relay", "serve", "--listen", `127.0.0.1:${this.#secondPort}`, "--data-dir", join(this.#root, "second")],
      ...(this.#options.second === "allowed" ? ["--allowed-origin", this.url] : []),
      ...["--json", "--log-format", "json", "--log-level", "debug"],
    ]);
    this.#second = relay;
    await relay.line(json<{ ready: boolean }>("ready"));
  }

  async startHost(): Promise<void> {
    this.#port ||= await freePort();
    const way = this.#options.parts === "listener" ? ["--listen", `127.0.0.1:${this.#port}`] : ["--relay", this.url];
    const host = this.#start([
      ...["host", "serve", ...way, "--label", "workshop", "--json"],
      ...(this.#options.second ? ["--relay", this.secondUrl] : []),
      ...["--log-format", "json", "--log-level", "debug"],
    ]);
    this.#host = host;
    await host.line(json<{ ready: boolean }>("ready"));
  }

  /** Starts the host as another machine on the relay of another world. */
  async joinRelay(relay: string, label: string): Promise<void> {
    this.#host = this.start("host", "serve", "--relay", relay, "--label", label, "--json", "--log-format", "json");
    await this.#host.line(json<{ ready: boolean }>("ready"));
  }

  /** Returns the moves that the host knows. */
  moves(): Promise<{ moves: { sessionId: string; state: string }[] }> {
    return this.#ask("list_moves", {});
  }

  /** Creates a session without messages in the only project, as a program on the host does, and returns its id. */
  async createSession(): Promise<string> {
    const { projects } = await this.#ask<{ projects: { id: string }[] }>("list_projects", {});
    const [project] = projects;
    const clientKey = crypto.randomUUID();
    const created = await this.#ask<{ session: { id: string } }>("create_session", {
      projectId: project?.id,
      clientKey,
    });
    return created.session.id;
  }

  async #ask<T>(request: string, fields: object): Promise<T> {
    const host = JSON.parse(readFileSync(join(this.scorelHome, "run", "host.json"), "utf8"));
    const answer = await fetch(`http://${host.addr}/v1/${request}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${host.token}`, "Content-Type": "application/json" },
      body: JSON.stringify(fields),
    });
    if (!answer.ok) {
      throw new Error(`${request}: ${await answer.text()}`);
    }
    return (await answer.json()) as T;
  }

  /** Kills the relay, as a power failure does. */
  async killRelay(): Promise<void> {
    await this.#relay?.kill();
  }

  /** Kills the relay of an address. */
  async killRelayAt(url: string): Promise<void> {
    await (url === this.url ? this.#relay : this.#second)?.kill();
  }

  /** Starts the relay of an address again. */
  startRelayAt(url: string): Promise<void> {
    return url === this.url ? this.startRelay() : this.startSecondRelay();
  }

  async killHost(): Promise<void> {
    await this.#host?.kill();
  }

  /** Stops the relay, which notifies all connections. */
  async stopRelay(): Promise<void> {
    await this.#relay?.stop();
  }

  /** Stops the host, as a service manager does. */
  async stopHost(): Promise<void> {
    await this.#host?.stop();
  }

  /** The log of every relay process of this world. */
  get relayLog(): string {
    return this.#past
      .filter((each) => each.command === "relay")
      .map((each) => each.log + each.output)
      .join("");
  }

  /** Returns every file of the relay, as bytes. */
  relayFiles(): Map<string, Buffer> {
    const names = readdirSync(this.relayData, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    return new Map(names.map((each) => [each.name, readFileSync(join(each.parentPath, each.name))]));
  }

  /** Writes a file into the project's folder. */
  write(name: string, text: string): void {
    writeFileSync(join(this.project, name), text);
  }

  /** Reads a file of the project's folder. */
  read(name: string): string {
    return readFileSync(join(this.project, name), "utf8");
  }

  /** Returns the names in the project's folder. */
  projectFiles(): string[] {
    return readdirSync(this.project);
  }

  /** Runs one scorel command on the host, to its end; `input` is its standard input. */
  scorel(args: string[], input?: string): Promise<Outcome> {
    return run(args, this.env, input);
  }

  /** Starts a scorel command on the host; it ends with the world at the latest. */
  start(...args: string[]): Running {
    return this.#start(args);
  }

  #start(args: string[]): Running {
    const running = new Running(args, this.env);
    this.#past.push(running);
    return running;
  }

  /** Ends all running processes, the youngest first, and removes the folders. */
  async end(): Promise<void> {
    const faults: unknown[] = [];
    for (const running of this.#past.toReversed()) {
      await running.stop().catch((fault: unknown) => faults.push(fault));
    }
    rmSync(this.#root, { recursive: true, force: true });
    if (faults.length > 0) {
      throw new AggregateError(faults, "a process did not end cleanly");
    }
  }

  /** Returns the logs of the processes, for a test that failed. */
  logs(): string {
    return this.#past.map((each) => `--- scorel ${each.command}\n${each.output}\n${each.log}`).join("\n");
  }
}
