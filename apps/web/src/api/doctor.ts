// The page's half of a diagnosis: the checks over HTTP that only a page can make. The rest needs keys and a socket and
// is the link worker's.
import { t } from "../i18n/connection";
import type { PageDiagnosisOptions, RunningDiagnosis } from "./contract";
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

/** The timeout of one HTTP request, in milliseconds. */
const PATIENCE = 10_000;

const PAGE_STEPS = ["page", "network"] as const;
const LINK_STEPS = ["relay", "login", "clock"] as const;
const DEVICE_STEPS = ["binding", "presence", "channel", "seal", "api"] as const;

/** One diagnosis, as the page runs it. */
export class PageDiagnosis implements RunningDiagnosis {
  readonly state: Store<DiagnosisState>;
  readonly #options: PageDiagnosisOptions;
  readonly #canceled = new AbortController();
  #page: DiagnosisStep[] = waiting(PAGE_STEPS);
  /** Why the steps after the page's were skipped: the chosen relay was not reached. "" if it was. */
  #skipped = "";

  constructor(options: PageDiagnosisOptions) {
    this.#options = options;
    this.state = new Store<DiagnosisState>({
      relayUrl: options.relayUrl,
      relay: [...this.#page, ...waiting(LINK_STEPS)],
      devices: options.devices.map(({ id, label }) => ({ id, label, steps: waiting(DEVICE_STEPS) })),
      others: [],
      done: false,
    });
  }

  /** Runs the page's steps, then the link worker's. */
  async run(): Promise<void> {
    const checks = { page: () => this.#checkPage(), network: () => this.#checkNetwork() };
    for (const name of PAGE_STEPS) {
      this.#put({ name, status: "running", detail: "" });
      const step = await tryStep(name, checks[name], noAnswer);
      if (this.#canceled.signal.aborted) {
        return;
      }
      this.#put(step);
      if (step.status === "failed") {
        this.#stop(name);
        break;
      }
    }
    this.#options.begin();
  }

  /** Takes the link worker's results so far. */
  take({ relay, devices, others, done }: LinkDiagnosis): void {
    // The link worker knows the devices of a relay that was not reached, also before this page does.
    const chosen = this.#skipped
      ? {
          devices: devices.map(({ id, label }) => ({
            id,
            label,
            steps: skipRest(waiting(DEVICE_STEPS), this.#skipped),
          })),
        }
      : { relay: [...this.#page, ...relay], devices };
    this.state.set({ ...this.state.get(), ...chosen, others, done });
    if (done) {
      this.#options.end();
    }
  }

  cancel(): void {
    this.#canceled.abort();
    this.#options.end();
  }

  #put(step: DiagnosisStep): void {
    this.#page = this.#page.map((each) => (each.name === step.name ? step : each));
    this.state.set({ ...this.state.get(), relay: [...this.#page, ...waiting(LINK_STEPS)] });
  }

  /** Skips the remaining steps of the chosen relay only: other relays may still reach the devices. */
  #stop(failed: StepName): void {
    const { relay, devices } = this.state.get();
    const why = t("connection.doctor.notTried", { step: failed });
    this.#skipped = why;
    this.state.set({
      ...this.state.get(),
      relay: skipRest(relay, why),
      devices: devices.map((device) => ({ ...device, steps: skipRest(device.steps, why) })),
    });
  }

  #ask(path: string): Promise<Response> {
    return this.#options.page.fetch(path, AbortSignal.any([this.#canceled.signal, AbortSignal.timeout(PATIENCE)]));
  }

  /** Compares the page's version with the relay's: a page that was left open may be older. */
  async #checkPage(): Promise<Verdict> {
    const { page } = this.#options;
    const html = await this.#ask("/")
      .then((answer) => (answer.ok ? answer.text() : ""))
      .catch(() => ""); // the next step reports why there is no answer
    const { origin } = page;
    const served = /<script[^>]*type="module"[^>]*src="([^"]+)"/.exec(html)?.[1];
    const running = page.script();
    if (served && running && served !== running) {
      return { detail: t("connection.doctor.loadedOld", { origin }), finding: "page_old" };
    }
    return {
      detail: served ? t("connection.doctor.loadedCurrent", { origin }) : t("connection.doctor.loadedFrom", { origin }),
    };
  }

  async #checkNetwork(): Promise<Verdict> {
    const { page, relayUrl } = this.#options;
    if (relayUrl !== page.origin) {
      return { status: "skipped", detail: t("connection.doctor.ownServerOnly") };
    }
    const answer = await this.#ask("/healthz");
    const health = (await answer.json().catch(() => null)) as Health | null;
    if (health?.problem) {
      return { detail: t("connection.doctor.relayFailing", { problem: health.problem }), finding: "relay_failing" };
    }
    if (health?.status) {
      const { version } = health;
      return { detail: version ? t("connection.doctor.answeredBy", { version }) : t("connection.doctor.answered") };
    }
    if (answer.status === 421) {
      throw new StepFailure("relay_name", t("connection.doctor.notThisName"));
    }
    if (answer.status >= 500) {
      throw new StepFailure("relay_busy", t("connection.doctor.status", { status: answer.status }));
    }
    return { detail: t("connection.doctor.healthNotPublic") };
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
    ? new StepFailure("relay_silent", t("connection.doctor.noAnswerInTime"))
    : new StepFailure("network_failed", t("connection.doctor.noReason"));
}
