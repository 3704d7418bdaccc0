// Reports to devices whether a person is looking at them: an agent asks no questions while nobody is present.
import type { DeviceChannel } from "./channel";

/** Reports the presence of people to devices. Owned by the link. */
export class Attendance {
  readonly #wait: number;
  readonly #channels: ReadonlyMap<string, Pick<DeviceChannel, "isOpen" | "request">>;
  #seen: ReadonlySet<string> = new Set();
  /**
   * The devices that no visible page shows, each with the timer that will report its person as absent, or null once
   * reported.
   */
  #away = new Map<string, ReturnType<typeof setTimeout> | null>();

  /**
   * `wait` is how long a device may be hidden before that is reported, in milliseconds: people look away for a moment.
   */
  constructor(wait: number, channels: ReadonlyMap<string, Pick<DeviceChannel, "isOpen" | "request">>) {
    this.#wait = wait;
    this.#channels = channels;
  }

  /** Sets the devices that visible pages show. */
  see(seen: ReadonlySet<string>): void {
    for (const deviceId of this.#seen) {
      if (!seen.has(deviceId)) {
        this.#leaveLater(deviceId);
      }
    }
    for (const deviceId of seen) {
      this.#come(deviceId);
    }
    this.#seen = seen;
  }

  /** Reports whether a visible page shows the device. */
  sees(deviceId: string): boolean {
    return this.#seen.has(deviceId);
  }

  /** Handles a new channel to a device. On a new channel the host assumes that a person is present. */
  opened(deviceId: string): void {
    if (this.#away.get(deviceId) === null) {
      this.#report(deviceId, false);
    } else if (!this.#seen.has(deviceId) && !this.#away.has(deviceId)) {
      this.#leaveLater(deviceId); // it was never visible, for example in a tab opened in the background
    }
  }

  stop(): void {
    for (const timer of this.#away.values()) {
      clearTimeout(timer ?? undefined);
    }
  }

  #leaveLater(deviceId: string): void {
    const timer = setTimeout(() => this.#leave(deviceId), this.#wait);
    this.#away.set(deviceId, timer);
  }

  #leave(deviceId: string): void {
    this.#away.set(deviceId, null);
    this.#report(deviceId, false);
  }

  #come(deviceId: string): void {
    const timer = this.#away.get(deviceId);
    this.#away.delete(deviceId);
    clearTimeout(timer ?? undefined);
    if (timer === null) {
      this.#report(deviceId, true);
    }
  }

  #report(deviceId: string, attended: boolean): void {
    const channel = this.#channels.get(deviceId);
    if (channel?.isOpen) {
      // A host without this request assumes that a person is present.
      channel.request("set_attendance", { attended }, 0).catch(() => {});
    }
  }
}
