// Selects the best path to a device.
import type { RelayAddress } from "../api/relay-url";
import type { Relay } from "./relay";
import type { ChannelLink, Way } from "./run";

/** The parts of a relay that the choice uses. */
export type Leading = Pick<Relay, "address" | "session" | "ping"> & {
  readonly book: Pick<Relay["book"], "usable" | "isOnline">;
};

export interface PathWay extends Way {
  readonly relay: Leading;
}

/** Returns the open paths to a device, best first: this machine, then the lowest round-trip time. */
export function waysTo(relays: readonly Leading[], deviceId: string): PathWay[] {
  const ways = relays.flatMap((relay): PathWay[] => {
    const pin = relay.book.usable(deviceId);
    return relay.session && pin && relay.book.isOnline(deviceId) ? [{ link: relay.session, pin, relay }] : [];
  });
  return ways.sort((a, b) => rank(a.relay.address) - rank(b.relay.address) || expected(a) - expected(b));
}

function rank({ loopback }: RelayAddress): number {
  return loopback ? 0 : 1;
}

/** Returns the round-trip time of a path: the last measured one, or twice the relay's if the path was never used. */
function expected({ pin, relay }: PathWay): number {
  return pin.rtt ?? relay.ping * 2;
}

/** A path is changed only if the round-trip time falls below this share and by at least this many milliseconds. */
const SHARE = 0.7;
const LEAST = 5;

/** Returns a path that may be better than the used one, and the round-trip time that it must stay below. */
export function betterWay(ways: readonly PathWay[], used: ChannelLink): { way: PathWay; below: number } | null {
  const now = ways.find(({ link }) => link === used);
  for (const way of now ? ways : []) {
    const step = rank(way.relay.address) - rank((now as PathWay).relay.address);
    const below = step < 0 ? Number.POSITIVE_INFINITY : (now?.pin.rtt ?? 0) * SHARE - LEAST;
    // The relay itself is part of the path.
    if (way !== now && step <= 0 && way.relay.ping < below) {
      return { way, below };
    }
  }
  return null;
}
