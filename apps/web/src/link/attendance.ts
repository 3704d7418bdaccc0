// Tells devices whether a person sees anything of them: an agent asks no questions of those who are not there.
import type { DeviceChannel } from "./channel";

/** Owned by the link. */
export class Attendance {
  readonly #wait: number;
  readonly #channels: ReadonlyMap<string, Pick<DeviceChannel, "isOpen" | "request">>;
  #seen: ReadonlySet<string> = new Set();
  /** The devices that are out of sight, each with what will tell it so, and with null once that was done. */
  #away = new Map<string, ReturnType<typeof setTimeout> | null>();

  /** `wait` is how long a device may be out of sight, in milliseconds: people look away for a moment. */
  constructor(wait: number, channels: ReadonlyMap<string, Pick<DeviceChannel, "isOpen" | "request">>) {
    this.#wait = wait;
    this.#channels = channels;
  }

  /** Takes the devices that pages in sight show. */
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

  /** Whether a page in sight shows the device. */
  sees(deviceId: string): boolean {
    return this.#seen.has(deviceId);
  }

  /** A channel to a device was opened, on which it counts a person as there. */
  opened(deviceId: string): void {
    if (this.#away.get(deviceId) === null) {
      this.#tell(deviceId, false);
    } else if (!this.#seen.has(deviceId) && !this.#away.has(deviceId)) {
      this.#leaveLater(deviceId); // it was never in sight, as in a tab that was opened in the background
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
    this.#tell(deviceId, false);
  }

  #come(deviceId: string): void {
    const timer = this.#away.get(deviceId);
    this.#away.delete(deviceId);
    clearTimeout(timer ?? undefined);
    if (timer === null) {
      this.#tell(deviceId, true);
    }
  }

  #tell(deviceId: string, attended: boolean): void {
    const channel = this.#channels.get(deviceId);
    if (channel?.isOpen) {
      // A host that does not know this counts a person as there.
      channel.request("set_attendance", { attended }, 0).catch(() => {});
    }
  }
}
