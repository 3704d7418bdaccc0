// Probes silent connections: sockets of a phone that slept, or of a lost network, look alive for minutes.
import { t } from "../i18n/link";
import type { Dialer } from "./dialer";
import type { Timing } from "./timing";

type ProberTiming = Pick<Timing, "probeAfter" | "probeWait" | "hiddenProbeAfter" | "hiddenProbeWait">;

export interface ProberOptions {
  dialer: Pick<Dialer, "now"> & {
    readonly open: { readonly lastHeard: number; fail(message: string | null): void } | null;
  };
  timing: ProberTiming;
  /** Sends a request that will be answered; returns false if there is no peer to ask. */
  ask: () => boolean;
  /** Reports whether a code is shown, which would be lost with the connection. */
  pairing: () => boolean;
}

/** A connection that received anything within this many milliseconds needs no probe. */
const FRESH = 1_000;

/** Probes one connection. Owned by the link. */
export class Prober {
  readonly #options: ProberOptions;
  #visible = true;
  /** Fires when the connection has been silent for too long. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  /** Fires when a probe got no answer; undefined while none is pending. */
  #answer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#answer);
  }

  /** Sets whether a page is visible. The connection is probed at once when one becomes visible. */
  setVisible(visible: boolean): void {
    if (visible === this.#visible) {
      return;
    }
    this.#visible = visible;
    this.#schedule();
    if (visible) {
      clearTimeout(this.#answer); // the timer of a hidden page, which waits longer
      this.#answer = undefined;
      this.#check(FRESH);
    }
  }

  /** Probes after the page or the network came back. */
  wake(): void {
    this.#check(FRESH);
    this.#redialIfIdle();
  }

  get #after(): number {
    const { probeAfter, hiddenProbeAfter } = this.#options.timing;
    return this.#visible ? probeAfter : hiddenProbeAfter;
  }

  get #wait(): number {
    const { probeWait, hiddenProbeWait } = this.#options.timing;
    return this.#visible ? probeWait : hiddenProbeWait;
  }

  #schedule(): void {
    clearTimeout(this.#silence);
    const heard = this.#options.dialer.open?.lastHeard ?? Date.now();
    const left = heard + this.#after - Date.now();
    // Once the probe is overdue, the next check is for its answer.
    this.#silence = setTimeout(() => this.#look(), left > 0 ? left : this.#wait);
  }

  #look(): void {
    this.#check(this.#after);
    this.#schedule();
  }

  /** Probes after the given milliseconds of silence, and redials when no answer arrives. */
  #check(silence: number): void {
    const { dialer, ask } = this.#options;
    const connection = dialer.open;
    if (this.#answer !== undefined || !connection || Date.now() - connection.lastHeard < silence || !ask()) {
      return;
    }
    const before = connection.lastHeard;
    this.#answer = setTimeout(() => {
      this.#answer = undefined;
      if (connection === dialer.open && connection.lastHeard === before) {
        connection.fail(t("link.connection.wentSilent"));
        dialer.now();
      }
    }, this.#wait);
  }

  // Without a device there is no peer to ask, and redialing loses nothing.
  #redialIfIdle(): void {
    const { dialer, timing, pairing } = this.#options;
    const connection = dialer.open;
    const idle = !pairing() && this.#answer === undefined;
    if (connection && idle && Date.now() - connection.lastHeard >= timing.hiddenProbeAfter) {
      connection.fail(null);
      dialer.now();
    }
  }
}
