// The parts of one connection that channels and pairings use, from its welcome to its end.
import type { Identity } from "@scorel/protocol";
import type { DataRecord, Frame, Reason } from "@scorel/protocol/wire";
import type { Asks } from "./asks";
import type { Connection } from "./connection";
import type { DeviceBook } from "./devices";
import type { PairLink } from "./pairing";
import type { ChannelLink, Run } from "./run";

export type LinkSession = ChannelLink & PairLink;

export interface SessionParts {
  connection: Connection;
  identity: Identity;
  book: DeviceBook;
  /** The relay's address, as http. */
  relay: string;
  /** How far this clock is ahead of the relay's, in milliseconds. */
  skew: number;
  asks: Asks;
  /** The channels of this connection by their numbers. */
  channels: Map<number, Run>;
  changed: () => void;
}

export function makeSession(parts: SessionParts): LinkSession {
  const { connection, asks, channels } = parts;
  const send = (frame: Frame): void => connection.sendFrame(frame);
  return {
    identity: parts.identity,
    book: parts.book,
    relay: parts.relay,
    skew: parts.skew,
    send,
    ask: (make) => asks.ask(send, make),
    changed: parts.changed,
    openChannel: async (deviceId) => {
      const opened = await asks.ask<Frame & { type: "channel_opened" }>(send, (requestId) => ({
        type: "open_channel",
        requestId,
        deviceId,
      }));
      return opened.channel;
    },
    bindChannel: (number, owner) => channels.set(number, owner),
    closeChannel: (number, reason: Reason) => {
      channels.delete(number);
      send({ type: "close_channel", channel: number, reason });
    },
    sendRecord: (channel, payload) => connection.sendRecord({ channel, payload } satisfies DataRecord),
  };
}
