// Which way to a device is the best.
import type { RelayAddress } from "../api/relay-url";
import type { Relay } from "./relay";
import type { ChannelLink, Way } from "./run";

/** A relay as far as it matters here. */
export type Leading = Pick<Relay, "address" | "session" | "ping"> & {
  readonly book: Pick<Relay["book"], "usable" | "isOnline">;
};

export interface PathWay extends Way {
  readonly relay: Leading;
}

/** The ways to a device that are open now, the best first: this machine, then what answered fastest. */
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

/** Of a way that was never used: half of it leads to the relay. */
function expected({ pin, relay }: PathWay): number {
  return pin.rtt ?? relay.ping * 2;
}

/** Less than this share of the round trip, and this many milliseconds less, is worth to change the path. */
const SHARE = 0.7;
const LEAST = 5;

/** A way that may be better than the one that is used, and below which round trip it is. */
export function betterWay(ways: readonly PathWay[], used: ChannelLink): { way: PathWay; below: number } | null {
  const now = ways.find(({ link }) => link === used);
  for (const way of now ? ways : []) {
    const step = rank(way.relay.address) - rank((now as PathWay).relay.address);
    const below = step < 0 ? Number.POSITIVE_INFINITY : (now?.pin.rtt ?? 0) * SHARE - LEAST;
    // The relay itself is a part of the way.
    if (way !== now && step <= 0 && way.relay.ping < below) {
      return { way, below };
    }
  }
  return null;
}
