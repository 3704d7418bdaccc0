// The link worker's half of a diagnosis: a separate connection to the relay and, through it, a sealed channel to each
// paired device, closed again once the host has answered. It makes the checks of `scorel doctor`, in the same order and
// with the same words.

import type { Bytes, Identity } from "@scorel/protocol";
import { type Frame, type RelayHello, VERSION, type Welcome } from "@scorel/protocol/wire";
import {
  type DeviceSteps,
  type DiagnosisStep,
  failureOf,
  type PathDiagnosis,
  StepFailure,
  type StepName,
  skipRest,
  tryStep,
  type Verdict,
  waiting,
} from "../api/diagnosis";
import type { RelayAddress } from "../api/relay-url";
import { t } from "../i18n/doctor";
import { Asks } from "./asks";
import { Connection, type ConnectionEnd } from "./connection";
import { DeviceDoctor, type DeviceWay } from "./doctor-device";
import { inWords, Line, loginFailure } from "./doctor-line";
import type { Pin } from "./pins";
import type { Timing } from "./timing";

const RELAY_STEPS = ["relay", "login", "clock"] as const;
const DEVICE_STEPS = ["binding", "presence", "channel", "seal", "api"] as const;

export interface LinkDoctorOptions {
  address: RelayAddress;
  identity: Identity;
  label: string;
  timing: Timing;
  makeSocket: (url: string, protocol: string) => WebSocket;
  /** The pinned devices of this relay. */
  pins: Pin[];
  /** The devices whose pairing the relay does not know yet. */
  unclaimed: Pin[];
  /** Whether this is the relay that this browser has chosen. */
  chosen: boolean;
  tell: (found: Found) => void;
}

/** The results so far. */
export type Found = Omit<PathDiagnosis, "relayUrl">;

/** The largest accepted clock difference, in milliseconds. */
const MOST_SKEW = 60_000;

export class LinkDoctor {
  readonly #options: LinkDoctorOptions;
  readonly #asks = new Asks();
  readonly #lines = new Map<number, Line>();
  readonly #hello = new Deferred<RelayHello>();
  readonly #welcome = new Deferred<Welcome>();
  #connection: Connection | null = null;
  canceled = false;
  #dialedAt = 0;
  #welcomedAt = 0;
  #relay: DiagnosisStep[] = waiting(RELAY_STEPS);
  #devices: DeviceSteps[];

  constructor(options: LinkDoctorOptions) {
    this.#options = options;
    this.#devices = this.#patients.map(({ id, label }) => ({ id, label, steps: waiting(DEVICE_STEPS) }));
  }

  /** Runs to completion; `tell` is called with the whole state after every change. */
  async run(): Promise<void> {
    this.#dial();
    await this.#chain(RELAY_STEPS, { relay: this.#greeting, login: this.#login, clock: this.#clock }, (steps) => {
      this.#relay = steps;
      this.#notify();
    });
    const failed = failureOf(this.#relay);
    for (const pin of this.#patients) {
      if (failed) {
        this.#setDevice(pin.id, skipRest(waiting(DEVICE_STEPS), t("doctor.link.notTried", { step: failed.name })));
      } else {
        await this.#probe(pin);
      }
    }
    this.#connection?.fail(null);
  }

  get #patients(): Pin[] {
    return [...this.#options.pins, ...this.#options.unclaimed];
  }

  /** Cancels the run; `tell` is not called any more. */
  cancel(): void {
    this.canceled = true;
    this.#connection?.fail(null);
  }

  #dial(): void {
    const { address, identity, label, timing, makeSocket } = this.#options;
    this.#dialedAt = Date.now();
    const handler = {
      onHello: (hello: RelayHello) => this.#hello.resolve(hello),
      onWelcome: (welcome: Welcome) => {
        this.#welcomedAt = Date.now();
        this.#welcome.resolve(welcome);
      },
      onFrame: (frame: Frame) => this.#take(frame),
      onRecord: ({ channel, payload }: { channel: number; payload: Uint8Array }) =>
        this.#lines.get(channel)?.put(payload as Bytes),
      onEnd: (end: ConnectionEnd) => this.#ended(end),
    };
    try {
      this.#connection = new Connection({ address, identity, label, timing, makeSocket, handler });
    } catch (err) {
      const why = err instanceof Error ? err.message : String(err);
      this.#hello.reject(new StepFailure("relay_socket", t("doctor.link.notAllowed", { reason: why })));
    }
  }

  /** Browsers do not report that a relay rejected a page because of its origin. */
  get #noSocket(): "relay_socket" | "relay_origin" {
    return this.#options.chosen ? "relay_socket" : "relay_origin";
  }

  #take(frame: Frame): void {
    if (frame.type === "channel_opened") {
      // Registered before its first record can arrive.
      this.#lines.set(frame.channel, new Line());
    } else if (frame.type === "channel_closed") {
      this.#lines.get(frame.channel)?.close(frame.reason);
    }
    this.#asks.take(frame);
  }

  #ended(end: ConnectionEnd): void {
    this.#hello.reject(
      end.refused
        ? new StepFailure("relay_version", end.message ?? t("doctor.link.thisVersion", { version: VERSION }))
        : new StepFailure(this.#noSocket, end.message ?? t("doctor.link.serverHungUp")),
    );
    this.#welcome.reject(loginFailure(end));
    this.#asks.drop();
    for (const line of this.#lines.values()) {
      line.close("peer_gone");
    }
  }

  readonly #greeting = async (): Promise<Verdict> => {
    const { version } = await this.#hello.promise;
    return { detail: t("doctor.link.protocolVersion", { version }) };
  };

  readonly #login = async (): Promise<Verdict> => {
    const { id } = await this.#welcome.promise;
    return { detail: t("doctor.link.as", { id: `${id.slice(0, 12)}…${id.slice(-4)}` }) };
  };

  readonly #clock = async (): Promise<Verdict> => {
    const { serverTime } = await this.#welcome.promise;
    const skew = (this.#dialedAt + this.#welcomedAt) / 2 - serverTime;
    const time = inWords(Math.abs(skew));
    if (Math.abs(skew) <= MOST_SKEW) {
      return { detail: t("doctor.link.clockWithin", { time }) };
    }
    const detail = skew > 0 ? t("doctor.link.clockAhead", { time }) : t("doctor.link.clockBehind", { time });
    return { detail, finding: "clock_skew" };
  };

  async #probe(pin: Pin): Promise<void> {
    const { identity, timing, unclaimed } = this.#options;
    const send = (frame: Frame): void => this.#connection?.sendFrame(frame);
    const way: DeviceWay = {
      identity,
      patience: timing.handshake,
      peers: (await this.#welcome.promise).peers,
      ask: (make) => this.#asks.ask(send, make),
      send,
      sendRecord: (channel, payload) => this.#connection?.sendRecord({ channel, payload }),
      line: (channel) => this.#lines.get(channel),
    };
    const doctor = new DeviceDoctor(way, pin, unclaimed.includes(pin));
    const checks = {
      binding: () => doctor.binding(),
      presence: () => doctor.presence(),
      channel: () => doctor.channel(),
      seal: () => doctor.seal(),
      api: () => doctor.api(),
    };
    await this.#chain(DEVICE_STEPS, checks, (steps) => this.#setDevice(pin.id, steps));
    doctor.close();
  }

  /** Runs steps in order until one fails; `set` is called with them after every change. */
  async #chain<N extends StepName>(
    names: readonly N[],
    checks: Record<N, () => Verdict | Promise<Verdict>>,
    set: (steps: DiagnosisStep[]) => void,
  ): Promise<void> {
    let steps = waiting(names);
    const put = (step: DiagnosisStep): void => {
      steps = steps.map((each) => (each.name === step.name ? step : each));
      set(steps);
    };
    for (const name of names) {
      put({ name, status: "running", detail: "" });
      const step = await tryStep(name, checks[name], lost);
      put(step);
      if (step.status === "failed") {
        set(skipRest(steps, t("doctor.link.notTried", { step: name })));
        return;
      }
    }
  }

  #setDevice(id: string, steps: DiagnosisStep[]): void {
    this.#devices = this.#devices.map((device) => (device.id === id ? { ...device, steps } : device));
    this.#notify();
  }

  #notify(): void {
    if (!this.canceled) {
      this.#options.tell({ relay: this.#relay, devices: this.#devices });
    }
  }
}

/** Returns the failure for an error that no step expects: usually the connection ended. */
function lost(err: unknown): StepFailure {
  return new StepFailure("login_lost", err instanceof Error ? err.message : String(err));
}

/** A promise that is settled from outside. It may be rejected before anyone waits for it. */
class Deferred<T> {
  resolve: (value: T) => void = () => {};
  reject: (err: Error) => void = () => {};
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor() {
    this.promise.catch(() => {});
  }
}
