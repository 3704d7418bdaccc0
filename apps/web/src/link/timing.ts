/** Every wait of the link, in milliseconds. Tests make them short. */
export interface Timing {
  /** From dialling to welcome. */
  login: number;
  /** First and longest wait before dialling again. */
  backoffBase: number;
  backoffMax: number;
  /** A connection that lived this long resets the back-off. */
  settled: number;
  /** From asking for a channel to its handshake being done. */
  handshake: number;
  /** How long a request waits for a channel. */
  channelWait: number;
  /** The same when the device is known to be offline. */
  offlineWait: number;
  /** Silence after which the way to the host is probed, and how long the probe may take. */
  probeAfter: number;
  probeWait: number;
}

export const TIMING: Timing = {
  login: 10_000,
  backoffBase: 400,
  backoffMax: 30_000,
  settled: 5_000,
  handshake: 10_000,
  channelWait: 15_000,
  offlineWait: 3_000,
  probeAfter: 25_000,
  probeWait: 10_000,
};

/** Exponential back-off with jitter; `attempt` counts from 0. */
export function backoff(timing: Timing, attempt: number): number {
  const most = Math.min(timing.backoffMax, timing.backoffBase * 2 ** Math.min(attempt, 20));
  return most / 2 + (most / 2) * Math.random();
}
