/** Every timeout and delay of the link, in milliseconds. Tests make them short. */
export interface Timing {
  /** From dialing to the welcome. */
  login: number;
  /** First and longest delay before redialing. */
  backoffBase: number;
  backoffMax: number;
  /** A connection that lasted this long resets the back-off. */
  settled: number;
  /** From requesting a channel to the end of its handshake. */
  handshake: number;
  /** How long a request waits for a channel. */
  channelWait: number;
  /** The same for a device that is known to be offline. */
  offlineWait: number;
  /** Silence after which the connection of a visible page is probed, and how long an answer may take. */
  probeAfter: number;
  probeWait: number;
  /** The same for a hidden page. */
  hiddenProbeAfter: number;
  hiddenProbeWait: number;
  /** How long no visible page may show a device before its host is notified that no one is present. */
  awayAfter: number;
  /** How long a change of a copy may wait before it is written. */
  copyDelay: number;
}

export const TIMING: Timing = {
  login: 10_000,
  backoffBase: 400,
  backoffMax: 30_000,
  settled: 5_000,
  handshake: 10_000,
  channelWait: 15_000,
  offlineWait: 3_000,
  probeAfter: 10_000,
  probeWait: 5_000,
  hiddenProbeAfter: 25_000,
  hiddenProbeWait: 10_000,
  awayAfter: 10_000,
  copyDelay: 5_000,
};

/** The attempts to reach a relay on this machine for which the delay does not grow: it restarts within seconds. */
const NEAR_ATTEMPTS = 20;

/** `backoff` for a relay on this machine. */
export function nearBackoff(timing: Timing, attempt: number): number {
  return backoff(timing, Math.max(0, attempt - NEAR_ATTEMPTS));
}

/** Exponential back-off with jitter; `attempt` counts from 0. */
export function backoff(timing: Timing, attempt: number): number {
  const most = Math.min(timing.backoffMax, timing.backoffBase * 2 ** Math.min(attempt, 20));
  return most / 2 + (most / 2) * Math.random();
}
