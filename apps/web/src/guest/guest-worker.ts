// The worker of one guest link. It holds the keys of the link while the page is open, and stores nothing.
import { GuestLinkError, guestIdentity, parseGuestLink } from "@scorel/protocol/guest";
import { RefusedError } from "../api/messages";
import { parseRelayUrl } from "../api/relay-url";
import { speak } from "../i18n/i18n";
import { TIMING } from "../link/timing";
import { GuestConnection } from "./guest-link";
import type { FromGuest, ToGuest } from "./messages";

const page = globalThis as unknown as {
  postMessage(message: FromGuest): void;
  onmessage: ((event: MessageEvent<ToGuest>) => void) | null;
};

let connection: GuestConnection | null = null;

async function start({ fragment, origin, label, translation }: ToGuest & { t: "start" }): Promise<void> {
  speak(translation);
  if (!fragment) {
    return page.postMessage({ t: "no", why: "missing" });
  }
  try {
    const link = parseGuestLink(fragment);
    const identity = await guestIdentity(link.seed);
    const made: GuestConnection = new GuestConnection({
      ...{ link, identity, label, timing: TIMING, address: parseRelayUrl(origin) },
      makeSocket: (url, protocol) => new WebSocket(url, protocol),
      tell: (state, status, opening) => page.postMessage({ t: "state", state, status, opening }),
      onEvent: (event) => page.postMessage({ t: "event", event }),
    });
    const { sessionId, expiresAt } = link;
    page.postMessage({ t: "link", link: { deviceId: link.device.id, sessionId, expiresAt } });
    connection = made;
    made.start();
  } catch (err) {
    page.postMessage({ t: "no", why: err instanceof GuestLinkError ? err.why : "noKeys" });
  }
}

async function ask({ id, name, fields }: ToGuest & { t: "request" }): Promise<void> {
  try {
    page.postMessage({ t: "answer", id, result: await connection?.request(name, fields) });
  } catch (err) {
    const kind = err instanceof RefusedError ? err.kind : null;
    page.postMessage({ t: "failed", id, kind, message: err instanceof Error ? err.message : String(err) });
  }
}

page.onmessage = ({ data }) => {
  switch (data.t) {
    case "start":
      return void start(data);
    case "wake":
      return connection?.wake();
    case "request":
      return void ask(data);
  }
};
