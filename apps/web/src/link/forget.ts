// Removing a device here, on the device itself and at its relays. Loaded with what knows the paths.
import type { DeviceChannel } from "./channel";
import type { Relay } from "./relay";

/** What leads to a device, and what follows when it was forgotten. */
export interface Forgetting {
  relays: readonly Relay[];
  channel: DeviceChannel | undefined;
  wait: number;
  /** The error that names relays that could not be notified; without them, that no relay can be reached. */
  refuse: (relays?: string) => Error;
  restored: () => void;
  forgotten: () => Promise<void>;
}

/**
 * Ends the access of this browser: on the device itself, which then ends all bindings, and at each relay. What could not be
 * notified is named in an error, unless the device knows.
 */
export async function forget(deviceId: string, options: Forgetting): Promise<void> {
  const { relays, channel, wait, refuse, restored, forgotten } = options;
  const leading = relays.filter(({ book }) => book.ids.includes(deviceId));
  const bound = leading.filter(({ book }) => book.pin(deviceId)?.state !== "revoked");
  const connected = leading.filter((relay) => relay.connected);
  if (bound.length > 0 && !bound.some((relay) => connected.includes(relay))) {
    throw refuse();
  }
  // Before the book forgets it, which ends the channel.
  const left = await leave(channel, wait);
  // Before the relays, so that other tabs see that it was forgotten and not taken away.
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

// Only the sealed answer of the device counts. An older host knows no such request.
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
