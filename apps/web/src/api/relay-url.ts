import { CONNECT_PATH } from "@scorel/protocol/gen/wire";

export interface RelayAddress {
  /** The WebSocket to dial. */
  socket: string;
  /** host[:port] in lower case, the port only when it is not the scheme's own: what the login proof names. */
  authority: string;
  /** The address for people and for `--relay`. */
  http: string;
  /** It is on this machine, which browsers trust without https. */
  loopback: boolean;
}

/** An address that is none of a relay, or one with a user name or password in it. */
export class RelayUrlError extends Error {
  override name = "RelayUrlError";
  constructor(readonly why: "form" | "user") {
    super(`bad relay address: ${why}`);
  }
}

/** Reads a relay's address in any of its forms; throws RelayUrlError. */
export function parseRelayUrl(text: string): RelayAddress {
  const url = tryParse(text.trim());
  const secure = url?.protocol === "wss:" || url?.protocol === "https:";
  if (!url?.hostname || !(secure || url.protocol === "ws:" || url.protocol === "http:")) {
    throw new RelayUrlError("form");
  }
  if (url.username || url.password) {
    throw new RelayUrlError("user");
  }
  // URL.host leaves the default port out, and lower-cases names.
  const authority = url.host.toLowerCase();
  return {
    socket: `${secure ? "wss" : "ws"}://${authority}${CONNECT_PATH}`,
    authority,
    http: `${secure ? "https" : "http"}://${authority}`,
    loopback: /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname),
  };
}

function tryParse(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
