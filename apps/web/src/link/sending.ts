// Connects the outbox and the sender to the link.
import { ApiError, type Host, OfflineError } from "../api/contract";
import { wipeDrafts } from "../api/drafts";
import { type FromLink, RefusedError } from "../api/messages";
import type { OutboxNews } from "../api/outbox";
import type { Link } from "./link";
import { Outbox } from "./outbox";
import { IdbOutbox } from "./outbox-store";
import { isBound } from "./pins";
import type { Saving } from "./saving";
import { MovingError, Sender } from "./sender";

export interface SendingOptions {
  db: IDBDatabase;
  clientId: string;
  post: (message: FromLink) => void;
  locks: Pick<LockManager, "request"> | undefined;
  /** Called when something is sent, which happens after the link was created. */
  link: () => Link;
  /** Deletes the copies together with the waiting prompts. */
  saving: Pick<Saving, "wipe">;
}

export interface Sending {
  outbox: Outbox;
  sender: Sender;
  /**
   * Handles a relay's report that this browser was removed on a device: deletes what can be loaded again, unless
   * another relay serves it. What was written here stays, because a report of a relay is no proof.
   */
  lost(deviceId: string): Promise<void>;
  /** Handles the removal of a device here: deletes everything for it. */
  forgotten(deviceId: string): Promise<void>;
  stop(): void;
}

/** The name of the channel between the outboxes of all tabs. */
const TABS = "scorel.outbox";

export function startSending({ db, clientId, post, locks, link, saving }: SendingOptions): Sending {
  const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel(TABS) : null;
  const outbox: Outbox = new Outbox({
    store: new IdbOutbox(db),
    clientId,
    tell: (news: OutboxNews, here: boolean) => post({ t: "outbox", news, here }),
    changed: (elsewhere) => sender.changed(elsewhere),
    tabs,
  });
  const sender = new Sender({
    outbox,
    ask: (deviceId) => askOver(link, deviceId),
    want: (deviceId) => link().use(deviceId),
    locks,
  });
  const lost = async (deviceId: string): Promise<void> => {
    if (!(await isBound(db, deviceId))) {
      await saving.wipe(deviceId);
    }
  };
  const forgotten = async (deviceId: string): Promise<void> => {
    await Promise.all([outbox.wipe(deviceId), wipeDrafts(deviceId).catch(() => {}), saving.wipe(deviceId)]);
  };
  const stop = (): void => {
    sender.stop();
    outbox.close();
  };
  return { outbox, sender, lost, forgotten, stop };
}

/**
 * Returns the request function of the sender. Errors of the host are ApiErrors; all others mean that the host cannot be
 * reached.
 */
function askOver(link: () => Link, deviceId: string): Host["request"] {
  const ask = async (name: string, fields: object): Promise<unknown> => {
    try {
      return await link().request(deviceId, name, fields);
    } catch (err) {
      if (err instanceof RefusedError) {
        throw err.movingTo ? new MovingError(err.message) : new ApiError(err.kind, err.message);
      }
      throw new OfflineError(err instanceof Error ? err.message : String(err));
    }
  };
  return ask as Host["request"];
}
