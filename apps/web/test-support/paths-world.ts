// A browser that works in sessions of one device while the paths to it come and go.
import { isDeepStrictEqual } from "node:util";
import { type DevicePath, OfflineError, type Scorel, type SessionState, type SessionView } from "../src/api/contract";
import { approval } from "../src/app/testing/builders";
import { dialOneOf, openPage, pairPage, until } from "./bench";
import { FakeDevice } from "./device";
import type { ModelSession } from "./model-session";
import type { Random } from "./random";
import { randomStep } from "./random-turns";
import { FakeRelay } from "./relay";

/** Sessions are short enough for one answer. */
const PER_SESSION = 25;
/** The timeout of one wait, in milliseconds. */
const PATIENCE = 60_000;

export class PathsWorld {
  readonly #random: Random;
  readonly #relays: readonly FakeRelay[];
  readonly #device: FakeDevice;
  readonly #page: Scorel;
  readonly #decided = new Map<string, string>();
  /** The pending answers of this browser. */
  readonly #answers: Promise<void>[] = [];
  #model!: ModelSession;
  #view!: SessionView;
  #sent: string[] = [];
  #step = "";
  /** The steps since the last comparison. */
  #story: string[] = [];
  /** How often each path was used. */
  readonly taken = new Map<string, number>();
  approvals = 0;
  won = 0;

  private constructor(random: Random, relays: readonly FakeRelay[], device: FakeDevice, page: Scorel) {
    this.#random = random;
    this.#relays = relays;
    this.#device = device;
    this.#page = page;
    device.intercept = (request) => (request.type === "answer_approval" ? this.#takeAnswer(request) : undefined);
    let last = "";
    page.paths.subscribe(() => {
      const used = this.#paths.find(({ state }) => state === "used")?.url ?? last;
      if (used !== last) {
        last = used;
        this.taken.set(used, (this.taken.get(used) ?? 0) + 1);
      }
    });
  }

  /** The page comes from a listener of this machine; two relays serve the device too. */
  static async begin(random: Random): Promise<PathsWorld> {
    const relays = [new FakeRelay("127.0.0.1:7430", "http"), new FakeRelay("one.test"), new FakeRelay("two.test")];
    const [local] = relays as [FakeRelay];
    const device = await FakeDevice.create();
    for (const relay of relays) {
      relay.add(device);
    }
    device.paths = relays.map((relay) => ({
      kind: relay === local ? "machine" : "relay",
      url: relay.url,
      state: "connected",
    }));
    const page = openPage(local, {}, undefined, dialOneOf(...relays));
    const world = new PathsWorld(random, relays, device, page);
    await pairPage(page, device);
    await until(page.host(device.identity.id).status, (status) => status === "open");
    await world.#within("three paths", () =>
      until(page.paths, () => world.#paths.filter(({ state }) => /used|ready/.test(state)).length === 3),
    );
    return world;
  }

  get urls(): string[] {
    return this.#relays.map(({ url }) => url);
  }

  /** Begins an action, cuts paths during it, and compares the page with the device. */
  async step(n: number): Promise<void> {
    this.#step = `cut ${n}`;
    this.#story = [];
    if (n % PER_SESSION === 0) {
      await this.#open(`ses_${n}`);
    }
    if (this.#random.chance(15)) {
      this.#note("all return");
      for (const relay of this.#relays) {
        this.#heal(relay);
      }
    }
    const text = `prompt ${n}`;
    this.#sent.push(text);
    const stored = this.#view.send(text);
    await this.#live();
    this.#cut();
    await this.#live();
    for (const relay of this.#relays.filter(() => this.#random.chance(40))) {
      this.#heal(relay);
    }
    if (!this.#relays.some((relay) => this.#usable(relay))) {
      this.#heal(this.#random.pick(this.#relays));
    }
    await this.#within("the prompt to be stored", () => stored);
    await this.#compare();
  }

  get #paths(): readonly DevicePath[] {
    return this.#page.paths.get()[this.#device.identity.id] ?? [];
  }

  async #open(id: string): Promise<void> {
    this.#view?.release();
    this.#sent = [];
    this.#device.prompts.length = 0;
    this.#device.requests.length = 0;
    for (const relay of this.#relays) {
      relay.seen.set([]);
    }
    this.#model = this.#device.session(id);
    this.#view = this.#page.host(this.#device.identity.id).session(id);
    await this.#within("the session to open", () => until(this.#view.state, ({ status }) => status === "live"));
  }

  /** Lets the agent work for a while and ask for approvals. */
  async #live(): Promise<void> {
    for (let left = this.#random.below(14); left > 0; left--) {
      randomStep(this.#model, this.#random);
      if (this.#random.chance(10)) {
        this.#ask();
      }
      for (let turns = this.#random.below(4); turns > 0; turns--) {
        await new Promise((resolve) => setImmediate(resolve)); // something may arrive, or not
      }
    }
  }

  /** Asks for an approval that this browser answers, another one, or both. */
  #ask(): void {
    const asked = { ...approval({ id: `mine${++this.approvals}` }), detail: "ls" };
    this.#model.live.approvals.push(asked);
    this.#model.publish("approval_requested", { approval: asked });
    const who = this.#random.below(3);
    const [model, view] = [this.#model, this.#view];
    if (who !== 0) {
      this.#answers.push(this.#answer(view, asked));
    }
    if (who !== 1) {
      setImmediate(() => this.#decide(model, asked.id, "cli_other"));
    }
  }

  /** Answers like a person who presses again while no reply arrives. */
  async #answer(view: SessionView, asked: ReturnType<typeof approval>): Promise<void> {
    for (;;) {
      try {
        const { won } = await view.answer(asked, { decision: "allow" });
        if (won !== (this.#decided.get(asked.id) === this.#me)) {
          throw new Error(`${asked.id}: the page believes ${won}, decided by ${this.#decided.get(asked.id)}`);
        }
        this.won += won ? 1 : 0;
        return;
      } catch (err) {
        if (!(err instanceof OfflineError)) {
          throw err;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }

  get #me(): string {
    return this.#page.me.get()?.id ?? "";
  }

  #takeAnswer({ sessionId, ...fields }: { sessionId: string }): object {
    const { approvalId } = fields as unknown as { approvalId: string };
    const session = this.#device.session(sessionId);
    const won = this.#decide(session, approvalId, this.#me);
    const decidedBy = this.#decided.get(approvalId) ?? "cli_other";
    return { type: "response", result: { decision: "allow", decidedBy, won } };
  }

  /** The first answer wins. */
  #decide(session: ModelSession, id: string, by: string): boolean {
    if (this.#decided.has(id) || !session.live.approvals.some((each) => each.id === id)) {
      return false;
    }
    this.#decided.set(id, by);
    session.live.approvals = session.live.approvals.filter((each) => each.id !== id);
    session.append({ type: "custom", customType: "scorel.approval", data: { approvalId: id } });
    session.publish("approval_resolved", { approvalId: id, decision: "allow", decidedBy: by });
    return true;
  }

  #usable(relay: FakeRelay): boolean {
    return !relay.down && !relay.absent.has(this.#device);
  }

  #heal(relay: FakeRelay): void {
    relay.down = false;
    if (relay.absent.has(this.#device)) {
      relay.setPresent(this.#device, true);
    }
  }

  #cut(): void {
    const used = this.#paths.find(({ state }) => state === "used")?.url;
    const inUse = this.#relays.find(({ url }) => url === used) ?? this.#random.pick(this.#relays);
    const any = this.#random.pick(this.#relays);
    const down = (relay: FakeRelay): void => {
      this.#note(`${relay.authority} goes`);
      relay.down = true;
      relay.cut();
    };
    const ways: (() => void)[] = [
      () => down(inUse),
      () => down(inUse),
      () => down(any),
      () => {
        for (const relay of this.#relays) {
          down(relay);
        }
      },
      () => inUse.cut(),
      () => any.cut(),
      () => inUse.setPresent(this.#device, false),
      () => this.#restart(),
    ];
    const way = this.#random.below(ways.length);
    this.#note(`way ${way}, ${inUse.authority} in use`);
    ways[way]?.();
  }

  /** Restarts the host. */
  #restart(): void {
    for (const relay of this.#relays) {
      relay.setOnline(this.#device, false);
    }
    this.#model.restart();
    for (const relay of this.#relays) {
      relay.setOnline(this.#device, true);
    }
    for (const relay of this.#relays.filter((each) => each.absent.has(this.#device))) {
      relay.setPresent(this.#device, false);
    }
  }

  /** Waits until the page shows the device's state, and nothing is pending. */
  async #compare(): Promise<void> {
    const same = (state: SessionState): boolean =>
      state.status === "live" &&
      state.outgoing.length === state.live.queue.length && // prompts of the model's own queue
      state.entries.length === this.#model.log.length &&
      equal(state.entries, this.#model.log) &&
      equal(state.live, this.#model.live);
    await this.#within("the page to show the log", () => until(this.#view.state, same));
    await this.#within("answers", () => Promise.all(this.#answers.splice(0)));
    await this.#within("the page to show the log after its answers", () => until(this.#view.state, same));
    const texts = this.#device.prompts.map(({ text }) => text);
    if (!equal(texts, this.#sent)) {
      throw this.#failure(`the device got ${texts.join(", ")}, sent were ${this.#sent.join(", ")}`);
    }
  }

  #note(what: string): void {
    this.#story.push(what);
  }

  #failure(what: string): Error {
    const paths = this.#paths.map(({ url, state }) => `${url} ${state}`);
    return new Error(`${this.#step}: ${what}; ${[...this.#story, ...paths].join("; ")}`);
  }

  #within<T>(what: string, wait: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const { status, outgoing, entries, live } = this.#view?.state.get() ?? {};
        const shown = `${status}, ${outgoing?.length} outgoing, ${entries?.length} of ${this.#model?.log.length}`;
        const lives = `${JSON.stringify(live)}, not ${JSON.stringify(this.#model?.live)}`;
        reject(this.#failure(`waited in vain for ${what} (${shown}; ${lives})`));
      }, PATIENCE);
      wait()
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }
}

/** Compares as JSON, ignoring the order of keys. */
function equal(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  return isDeepStrictEqual(plain(a), plain(b));
}
