import { type BrowserContext, expect, type Locator, type Page } from "@playwright/test";
import { answered, conversation, type Line, readSession, type Said } from "./log";
import { json } from "./process";
import type { World } from "./world";

/** Matches the console messages of lost connections. A refused connection is an error only while the relay runs. */
const connectionLost =
  /WebSocket connection to|ERR_CONNECTION_(REFUSED|RESET|CLOSED)|Failed to load resource|Service Worker registration blocked|error occurred when fetching the script/;

/** One person with their own browser: new profile, no key, no device. */
export class Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #world: World;
  readonly #complaints: string[];
  /** Set once paired. */
  clientId = "";
  /** The pairing code that the page showed. */
  code = "";
  /** The origin of its pages: the relay, or a connection to it that can fail. */
  url: string;

  constructor(world: World, page: Page, complaints: string[] = []) {
    this.#world = world;
    this.url = world.url;
    this.context = page.context();
    this.page = page;
    this.#complaints = complaints;
    page.on("pageerror", (error) => this.#complaints.push(`page error: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        this.#complaints.push(`console ${message.type()}: ${message.text()}`);
      }
    });
  }

  /** The browser's complaints: script errors, and everything that the Content-Security-Policy blocked. */
  get complaints(): string[] {
    return this.#complaints.filter((each) => !connectionLost.test(each));
  }

  /** Removes complaints of a kind that the test itself has caused. */
  forgive(kind: RegExp): void {
    const others = this.#complaints.filter((each) => !kind.test(each));
    this.#complaints.splice(0, this.#complaints.length, ...others);
  }

  /** Returns the same person in another tab. */
  on(page: Page): Visitor {
    const other = new Visitor(this.#world, page, this.#complaints);
    other.clientId = this.clientId;
    other.url = this.url;
    return other;
  }

  /** Returns the element with a test id. */
  at(testId: string): Locator {
    return this.page.getByTestId(testId);
  }

  async open(path = "/"): Promise<void> {
    await this.page.goto(this.url + path);
  }

  /** Reads the command that the page shows and runs exactly this command on the host. */
  async pair(): Promise<void> {
    if (!this.page.url().startsWith(this.url)) {
      await this.open();
    }
    const command = ((await this.at("pair-command").textContent()) ?? "").trim();
    this.code = ((await this.at("pair-code").textContent()) ?? "").trim();
    expect(command).toContain(this.code);
    const [program, ...args] = command.split(/\s+/);
    expect(program).toBe("scorel");
    // The host knows the relay by its own address only.
    const told = this.url === this.#world.url ? args : ["pair", this.code];
    const paired = await this.#world.scorel([...told, "--yes", "--json"]);
    expect(paired, paired.stderr).toMatchObject({ code: 0 });
    const answer = paired.stdout.split("\n").map(json<{ clientId: string }>("clientId")).find(Boolean);
    this.clientId = answer?.clientId ?? "";
    expect(this.clientId).toMatch(/^cli_[a-z2-7]+$/);
    await expect(this.page).toHaveURL(/\/d\/dev_[a-z2-7]+$/);
  }

  /** Adds the world's project by browsing the folders of the host, as a person does. */
  async addProject(): Promise<void> {
    await this.at("add-project").click();
    for (const folder of ["code", "lighthouse"]) {
      await this.at("dir-entry").filter({ hasText: folder }).click();
    }
    await expect(this.page.getByText("No subfolders.")).toBeVisible();
    await this.at("choose-folder").click();
    await expect(this.at("project-row")).toContainText(this.#world.project);
  }

  /** Opens the composer of a new session in the only project. There is no session before the first prompt. */
  async startSession(): Promise<void> {
    await this.at("new-session").click();
    await expect(this.page).toHaveURL(/\/new\?/);
    await expect(this.at("composer")).toBeEnabled();
  }

  /** Opens a session without messages and returns its id. A page creates none without a prompt. */
  async newSession(): Promise<string> {
    const [device] = /^.*\/d\/[^/]+/.exec(this.page.url()) ?? [];
    await this.page.goto(`${device}/s/${await this.#world.createSession()}`);
    await expect(this.at("composer")).toBeEnabled();
    return this.sessionId;
  }

  get sessionId(): string {
    return this.sessionPath.split("/s/")[1] ?? "";
  }

  /** The path of the shown session on the page's own server. */
  get sessionPath(): string {
    return new URL(this.page.url()).pathname;
  }

  /** Pairs, adds the project and opens a session without messages. */
  async settle(): Promise<string> {
    await this.pair();
    await this.addProject();
    return this.newSession();
  }

  async prompt(text: string): Promise<void> {
    await this.at("composer").fill(text);
    await this.at("send").click();
  }

  /** Waits until no turn runs and no prompt is undelivered, in a session with at least one prompt. */
  async rest(): Promise<void> {
    // The page stores a prompt before it shows and sends it: for a moment it is not visible.
    await expect(() => expect(answered(this.log())).toBe(true)).toPass({ timeout: 120_000 });
    await expect(this.page.locator("[data-testid=message-state]:not([data-state=taken])")).toHaveCount(0, {
      timeout: 120_000,
    });
    await expect(this.at("cancel-turn")).toHaveCount(0, { timeout: 120_000 });
    await expect(this.page.locator("[data-streaming]")).toHaveCount(0);
  }

  /** The streaming answer. */
  get streaming(): Locator {
    return this.page.locator("[data-testid=message-assistant][data-streaming]");
  }

  /** Returns the visible messages, in order, without the page's own texts about them. */
  async said(): Promise<Said[]> {
    const rows = this.page.locator("[data-testid=message-user], [data-testid=message-assistant]");
    const read = (all: Element[]) =>
      all.map((row) => {
        const who = row.getAttribute("data-testid") === "message-user" ? ("user" as const) : ("assistant" as const);
        const parts = [...row.querySelectorAll(who === "user" ? ":scope > p" : ":scope > .md")];
        const text = parts.map((part) => part.textContent ?? "").join(" ");
        return { who, text: text.replace(/\s+/g, " ").trim() };
      });
    return rows.evaluateAll(read);
  }

  /** The scrolling element. */
  get box(): Locator {
    return this.page.getByRole("region", { name: "Transcript" });
  }

  /** Scrolls up until there are no earlier entries. */
  async toTheBeginning(): Promise<void> {
    await expect(async () => {
      await this.box.evaluate((box) => {
        box.scrollTop = 0;
      });
      expect(await this.at("earlier").count()).toBe(0);
    }).toPass({ timeout: 120_000, intervals: [30] });
  }

  /**
   * Returns every message from the beginning to the end while scrolling down: rows far behind the reader are not in the
   * page. No text may occur twice.
   */
  async readThrough(): Promise<string[]> {
    await this.toTheBeginning();
    const seen = new Set<string>();
    await expect(async () => {
      for (const { text } of await this.said()) {
        seen.add(text);
      }
      expect(await this.box.locator("[data-row]").count()).toBeLessThanOrEqual(640);
      const left = await this.box.evaluate((box) => {
        const rest = box.scrollHeight - box.scrollTop - box.clientHeight;
        box.scrollTop += 4000;
        return rest;
      });
      expect((await this.at("later").count()) === 0 && left < 2).toBe(true);
    }).toPass({ timeout: 120_000, intervals: [20] });
    return [...seen];
  }

  /** Returns every row of the transcript as its reader sees it, without cards that are about to disappear. */
  async transcript(): Promise<string> {
    await expect(this.page.locator("[data-testid$=-answered]")).toHaveCount(0);
    return (await this.page.getByRole("region", { name: "Transcript" }).textContent()) ?? "";
  }

  /** Returns the lines of the shown session, from the host's disk. */
  log(): Line[] {
    return readSession(this.#world.scorelHome, this.sessionId);
  }

  /** Asserts that the page shows exactly the messages of the session file, in order. */
  async expectTruth(): Promise<void> {
    // A prompt is sent a moment before the page and the file show it, and delivered a moment before its turn shows:
    // only page and file together prove that the turn is over.
    await expect(async () => {
      await this.rest();
      expect(await this.said()).toEqual(conversation(this.log()));
    }).toPass({ timeout: 120_000 });
  }
}

/** Returns the words word1 … wordN, as the demo model counts them. */
export function words(count: number): string {
  return Array.from({ length: count }, (_, i) => `word${i + 1}`).join(" ");
}
