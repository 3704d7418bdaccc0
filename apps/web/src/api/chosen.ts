// The settings of this browser that a person chose, and their defaults.
import { labelFrom, labelFromUserAgent } from "./label";
import { parseRelayUrl } from "./relay-url";

const RELAY_KEY = "scorel.relay";
const LABEL_KEY = "scorel.label";

type Storing = Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;

/** Returns null in a browser that forbids storage, where even reading the property throws. */
export function storageOf(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** Returns the relay's address: the page's own unless another one was chosen. */
export function chosenRelay(storage: Storing, origin: string): string {
  try {
    return parseRelayUrl(storage?.getItem(RELAY_KEY) ?? "").http;
  } catch {
    return origin;
  }
}

export function chooseRelay(storage: Storing, http: string, origin: string): void {
  if (http === origin) {
    storage?.removeItem(RELAY_KEY);
  } else {
    storage?.setItem(RELAY_KEY, http);
  }
}

/** Returns the name of this browser. */
export function chosenLabel(storage: Storing, userAgent: string): string {
  return labelFrom(storage?.getItem(LABEL_KEY) ?? "") || labelFromUserAgent(userAgent);
}

/** Stores a label; "" removes the choice. */
export function chooseLabel(storage: Storing, label: string): void {
  if (label) {
    storage?.setItem(LABEL_KEY, label);
  } else {
    storage?.removeItem(LABEL_KEY);
  }
}
