import { CONNECT_PATH } from "@scorel/protocol/gen/wire";

export interface RelayAddress {
  /** The WebSocket to dial. */
  socket: string;
  /** host[:port] in lower case, without the scheme's default port, as the login proof names it. */
  authority: string;
  /** The address for people and for `--relay`. */
  http: string;
  /** Whether the relay is on this machine, which browsers trust without https. */
  loopback: boolean;
}

/** Thrown for an address that is not a relay's, or that contains a user name or password. */
export class RelayUrlError extends Error {
  override name = "RelayUrlError";
  constructor(readonly why: "form" | "user") {
    super(`bad relay address: ${why}`);
  }
}

/** Parses a relay's address in any of its forms; throws RelayUrlError. */
export function parseRelayUrl(text: string): RelayAddress {
  const url = tryParse(text.trim());
  const secure = url?.protocol === "wss:" || url?.protocol === "https:";
  if (!url?.hostname || !(secure || url.protocol === "ws:" || url.protocol === "http:")) {
    throw new RelayUrlError("form");
  }
  if (url.username || url.password) {
    throw new RelayUrlError("user");
  }
  // URL.host omits the default port and lower-cases names.
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
