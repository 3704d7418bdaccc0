// The page's half of a diagnosis: what only a page can ask for, over HTTP. The rest
// needs keys and a socket, and is the link worker's.
import type { Device, Diagnosis } from "./contract";
import {
  type DiagnosisState,
  type DiagnosisStep,
  type LinkDiagnosis,
  StepFailure,
  type StepName,
  skipRest,
  tryStep,
  type Verdict,
  waiting,
} from "./diagnosis";
import { Store } from "./store";

/** What a diagnosis asks of the page. */
export interface PageParts {
  /** Where the page came from. */
  origin: string;
  fetch(path: string, signal: AbortSignal): Promise<Response>;
  /** The address of the script that runs, as index.html names it. */
  script(): string | null;
}

/** How long one question over HTTP may take, in milliseconds. */
const PATIENCE = 10_000;

/** The parts of a real page. */
export function realPage(): PageParts {
  return {
    origin: location.origin,
    fetch: (path, signal) => fetch(path, { cache: "no-store", redirect: "manual", signal }),
    script: () => document.querySelector("script[type=module][src]")?.getAttribute("src") ?? null,
  };
}

const PAGE_STEPS = ["page", "network"] as const;
const LINK_STEPS = ["relay", "login", "clock"] as const;
const DEVICE_STEPS = ["binding", "presence", "channel", "seal", "api"] as const;

export interface PageDiagnosisOptions {
  page: PageParts;
  relayUrl: string;
  /** The devices as they are known before the link has looked. */
  devices: readonly Device[];
  /** Starts the link's half. */
  begin: () => void;
  /** It is over, by itself or not. */
  end: () => void;
}

/** One diagnosis as the page sees it. */
export class PageDiagnosis implements Diagnosis {
  readonly state: Store<DiagnosisState>;
  readonly #options: PageDiagnosisOptions;
  readonly #cancelled = new AbortController();
  #page: DiagnosisStep[] = waiting(PAGE_STEPS);

  constructor(options: PageDiagnosisOptions) {
    this.#options = options;
    this.state = new Store<DiagnosisState>({
      relayUrl: options.relayUrl,
      relay: [...this.#page, ...waiting(LINK_STEPS)],
      devices: options.devices.map(({ id, label }) => ({ id, label, steps: waiting(DEVICE_STEPS) })),
      done: false,
    });
  }

  /** Runs the page's steps, then hands over to the link. */
  async run(): Promise<void> {
    const checks = { page: () => this.#checkPage(), network: () => this.#checkNetwork() };
    for (const name of PAGE_STEPS) {
      this.#put({ name, status: "running", detail: "" });
      const step = await tryStep(name, checks[name], noAnswer);
      if (this.#cancelled.signal.aborted) {
        return;
      }
      this.#put(step);
      if (step.status === "failed") {
        this.#stop(name);
        return;
      }
    }
    this.#options.begin();
  }

  /** Takes what the link has found so far. */
  take({ relay, devices, done }: LinkDiagnosis): void {
    this.state.set({ ...this.state.get(), relay: [...this.#page, ...relay], devices, done });
    if (done) {
      this.#options.end();
    }
  }

  cancel(): void {
    this.#cancelled.abort();
    this.#options.end();
  }

  #put(step: DiagnosisStep): void {
    this.#page = this.#page.map((each) => (each.name === step.name ? step : each));
    this.state.set({ ...this.state.get(), relay: [...this.#page, ...waiting(LINK_STEPS)] });
  }

  #stop(failed: StepName): void {
    const { relay, devices } = this.state.get();
    this.state.set({
      ...this.state.get(),
      relay: skipRest(relay, failed),
      devices: devices.map((device) => ({ ...device, steps: skipRest(device.steps, failed) })),
      done: true,
    });
    this.#options.end();
  }

  #ask(path: string): Promise<Response> {
    return this.#options.page.fetch(path, AbortSignal.any([this.#cancelled.signal, AbortSignal.timeout(PATIENCE)]));
  }

  /** A page that was left open may be older than the relay that serves it. */
  async #checkPage(): Promise<Verdict> {
    const { page } = this.#options;
    const loaded = `loaded from ${page.origin}`;
    const html = await this.#ask("/")
      .then((answer) => (answer.ok ? answer.text() : ""))
      .catch(() => ""); // the next step says why nobody answers
    const served = /<script[^>]*type="module"[^>]*src="([^"]+)"/.exec(html)?.[1];
    const running = page.script();
    if (served && running && served !== running) {
      return { detail: `${loaded}, which serves a newer one by now`, finding: "page_old" };
    }
    return { detail: served ? `${loaded}, and current` : loaded };
  }

  async #checkNetwork(): Promise<Verdict> {
    const { page, relayUrl } = this.#options;
    if (relayUrl !== page.origin) {
      return { status: "skipped", detail: "the browser lets this page ask its own server only; the next step tells" };
    }
    const answer = await this.#ask("/healthz");
    const health = (await answer.json().catch(() => null)) as Health | null;
    if (health?.problem) {
      return { detail: `the relay says that it is failing: ${health.problem}`, finding: "relay_failing" };
    }
    if (health?.status) {
      return { detail: `answered by scorel ${health.version ?? ""}`.trimEnd() };
    }
    if (answer.status === 421) {
      throw new StepFailure("relay_name", "the relay does not answer to this name");
    }
    if (answer.status >= 500) {
      throw new StepFailure("relay_busy", `the server answered ${answer.status}`);
    }
    return { detail: "answered; its health is not shown to the public" };
  }
}

interface Health {
  status?: string;
  version?: string;
  problem?: string;
}

function noAnswer(err: unknown): StepFailure {
  const late = err instanceof DOMException && err.name === "TimeoutError";
  return late
    ? new StepFailure("relay_silent", "no answer in time")
    : new StepFailure("network_failed", "the browser got no answer, and does not say why");
}
