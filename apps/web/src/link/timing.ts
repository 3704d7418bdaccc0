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
  /** Silence after which the connection of a visible page is probed, and how long an answer may take. */
  probeAfter: number;
  probeWait: number;
  /** The same for a hidden page. */
  hiddenProbeAfter: number;
  hiddenProbeWait: number;
  /** How long a device may be out of sight before it is told that no one is there. */
  awayAfter: number;
  /** How long a change of a copy may wait to be written. */
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

/** Exponential back-off with jitter; `attempt` counts from 0. */
export function backoff(timing: Timing, attempt: number): number {
  const most = Math.min(timing.backoffMax, timing.backoffBase * 2 ** Math.min(attempt, 20));
  return most / 2 + (most / 2) * Math.random();
}
