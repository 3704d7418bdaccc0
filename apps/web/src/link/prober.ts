// Looks after a connection that says nothing: sockets of a phone that slept, or of a
// network that went away, look alive for minutes.
import { t } from "../i18n/link";
import type { Dialer } from "./dialer";
import type { Timing } from "./timing";

type ProberTiming = Pick<Timing, "probeAfter" | "probeWait" | "hiddenProbeAfter" | "hiddenProbeWait">;

export interface ProberOptions {
  dialer: Pick<Dialer, "now"> & {
    readonly open: { readonly lastHeard: number; fail(message: string | null): void } | null;
  };
  timing: ProberTiming;
  /** Sends something that is answered; false if no peer can be asked. */
  ask: () => boolean;
  /** A code is being shown, which would be lost with the connection. */
  pairing: () => boolean;
}

/** What was heard within this many milliseconds needs no probe. */
const FRESH = 1_000;

/** Owned by the link. */
export class Prober {
  readonly #options: ProberOptions;
  #visible = true;
  /** Runs out when the connection has been silent for too long. */
  #silence: ReturnType<typeof setTimeout> | undefined;
  /** Runs out when a probe got no answer; undefined while none is under way. */
  #answer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ProberOptions) {
    this.#options = options;
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#answer);
  }

  /** Whether somebody can see the page. One that comes into sight is checked at once. */
  setVisible(visible: boolean): void {
    if (visible === this.#visible) {
      return;
    }
    this.#visible = visible;
    this.#schedule();
    if (visible) {
      clearTimeout(this.#answer); // of a hidden page, which waits longer
      this.#answer = undefined;
      this.#check(FRESH);
    }
  }

  /** The page came back, or the network did. */
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
    // Once it is overdue, the next look is at its answer.
    this.#silence = setTimeout(() => this.#look(), left > 0 ? left : this.#wait);
  }

  #look(): void {
    this.#check(this.#after);
    this.#schedule();
  }

  /** Asks for a sign of life after so many milliseconds of silence, and dials again when none comes. */
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

  // Without a device no peer can be asked, and nothing is lost by dialing again.
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
