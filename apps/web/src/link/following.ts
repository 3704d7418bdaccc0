// Selects the pages that receive a host's message. To a host, all pages of a worker are one subscriber.
import type { FromLink, WireEvent } from "../api/messages";
import type { ServedPage } from "./served-page";

export interface HostRequest {
  deviceId: string;
  name: string;
  fields: object;
}

/**
 * The kinds of things that pages follow: the field that names one, and the requests that begin and end following it.
 */
const KINDS = [
  { field: "sessionId", begin: "resync_events", end: "unsubscribe" },
  { field: "terminalId", begin: "attach_terminal", end: "detach_terminal" },
] as const;
type Kind = (typeof KINDS)[number];

function keyOf({ field }: Kind, deviceId: string, of: object): string {
  return `${field} ${deviceId} ${(of as Record<string, unknown>)[field]}`;
}

/** Reports whether a page receives a message that is not addressed to a single page. */
export function concerns(page: ServedPage, message: FromLink): boolean {
  if (message.t !== "event" && message.t !== "host") {
    return true;
  }
  const kind = message.t === "event" ? kindOf(message.event) : undefined;
  return message.t === "event" && kind
    ? page.follows.has(keyOf(kind, message.deviceId, message.event))
    : page.devices.has(message.deviceId);
}

/** Returns the kind of thing that an event belongs to; undefined if every page that shows the device receives it. */
function kindOf({ type, sessionId }: WireEvent): Kind | undefined {
  return type === "terminal_output" ? KINDS[1] : sessionId ? KINDS[0] : undefined;
}

/**
 * Records what a page follows. Returns false when the request must not be sent to the host, because another page still
 * follows what this one leaves.
 */
export function follow(pages: Iterable<ServedPage>, page: ServedPage, request: HostRequest): boolean {
  const { deviceId, name, fields } = request;
  const kind = KINDS.find(({ begin, end }) => name === begin || name === end);
  if (!kind) {
    return true;
  }
  const key = keyOf(kind, deviceId, fields);
  if (name === kind.begin) {
    page.follows.add(key);
    return true;
  }
  page.follows.delete(key);
  return [...pages].every(({ follows }) => !follows.has(key));
}

/** Returns the requests that end everything that a page follows. */
export function endings(page: ServedPage): HostRequest[] {
  return [...page.follows].map((key) => {
    const [field, deviceId = "", id = ""] = key.split(" ");
    const { end } = KINDS.find((kind) => kind.field === field) as Kind;
    return { deviceId, name: end, fields: { [field as string]: id } };
  });
}
