// Removes a device: in this browser, on the device itself and at its relays. Loaded together with the paths.
import type { DeviceChannel } from "./channel";
import type { Relay } from "./relay";

/** The paths to a device, and the steps after it was forgotten. */
export interface Forgetting {
  relays: readonly Relay[];
  channel: DeviceChannel | undefined;
  wait: number;
  /**
   * Returns the error that names the relays that could not be notified, or without names, the one for no reachable
   * relay.
   */
  refuse: (relays?: string) => Error;
  restored: () => void;
  forgotten: () => Promise<void>;
}

/**
 * Ends this browser's access: on the device itself, which then ends all bindings, and at each relay. Rejects with an
 * error that names the relays that could not be notified, unless the device was.
 */
export async function forget(deviceId: string, options: Forgetting): Promise<void> {
  const { relays, channel, wait, refuse, restored, forgotten } = options;
  const leading = relays.filter(({ book }) => book.ids.includes(deviceId));
  const bound = leading.filter(({ book }) => book.pin(deviceId)?.state !== "revoked");
  const connected = leading.filter((relay) => relay.connected);
  if (bound.length > 0 && !bound.some((relay) => connected.includes(relay))) {
    throw refuse();
  }
  // Runs before the book forgets the device, which ends the channel.
  const left = await leave(channel, wait);
  // Runs before the relays are notified, so that other tabs see a removal by this browser and not a revocation.
  const restores = await Promise.all(leading.map(({ book }) => book.forget(deviceId)));
  const ended = await Promise.allSettled(connected.map((relay) => relay.unbind(deviceId)));
  const failed = ended.find((each) => each.status === "rejected");
  if (!left && failed && bound.length > 0 && ended.every((each) => each.status === "rejected")) {
    await Promise.all(restores.map((restore) => restore()));
    restored();
    throw failed.reason;
  }
  await forgotten();
  const missed = bound.filter((relay) => ended[connected.indexOf(relay)]?.status !== "fulfilled");
  if (!left && missed.length > 0) {
    throw refuse(missed.map(({ address }) => address.http).join(", "));
  }
}

// Only the sealed answer of the device counts. An older host does not know this request.
async function leave(channel: DeviceChannel | undefined, wait: number): Promise<boolean> {
  if (!channel?.isOpen) {
    return false;
  }
  const patience = new Promise<boolean>((resolve) => setTimeout(resolve, wait, false));
  const answer = channel.request("leave", {}, 0).then(
    () => true,
    () => false,
  );
  return Promise.race([answer, patience]);
}
