// Looks after a connection that says nothing: sockets of a phone that slept, or of a
// network that went away, look alive for minutes.
import type { DeviceChannel } from "./channel";
import type { Dialer } from "./dialer";
import type { Timing } from "./timing";

export interface ProberOptions {
  dialer: Dialer;
  timing: Timing;
  /** The channels that are wanted. */
  channels: () => Iterable<DeviceChannel>;
  /** A code is being shown, which would be lost with the connection. */
  pairing: () => boolean;
}

export class Prober {
  readonly #options: ProberOptions;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(options: ProberOptions) {
    this.#options = options;
    const { probeAfter } = options.timing;
    this.#timer = setInterval(() => this.#probe(probeAfter), probeAfter / 2);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The page came back, or the network did. */
  wake(): void {
    this.#probe(this.#options.timing.probeWait / 2);
    this.#redialIfIdle();
  }

  #openChannel(): DeviceChannel | undefined {
    return [...this.#options.channels()].find((channel) => channel.isOpen);
  }

  /** Asks for a word after so many milliseconds of silence, and dials anew when none comes. */
  #probe(silence: number): void {
    const { dialer, timing } = this.#options;
    const connection = dialer.open;
    const channel = this.#openChannel();
    if (!connection || !channel || Date.now() - connection.lastHeard < silence) {
      return;
    }
    const before = connection.lastHeard;
    channel.request("get_host", {}, 0).catch(() => {});
    setTimeout(() => {
      if (connection === dialer.open && connection.lastHeard === before) {
        connection.fail("The connection went silent.");
        dialer.now();
      }
    }, timing.probeWait);
  }

  // With no channel there is nobody to ask, and nothing to lose by dialling again.
  #redialIfIdle(): void {
    const { dialer, timing, pairing } = this.#options;
    const connection = dialer.open;
    const idle = !pairing() && !this.#openChannel();
    if (connection && idle && Date.now() - connection.lastHeard >= timing.probeAfter) {
      connection.fail(null);
      dialer.now();
    }
  }
}
