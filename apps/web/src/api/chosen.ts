// What a person chose for this browser, and what holds without a choice.
import { labelFrom, labelFromUserAgent } from "./label";
import { parseRelayUrl } from "./relay-url";

const RELAY_KEY = "scorel.relay";
const LABEL_KEY = "scorel.label";

type Storing = Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;

/** Null in a browser that forbids storage, which throws at the mere mention of it. */
export function storageOf(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** The address of the relay: that of the page unless another was chosen. */
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

/** The name of this browser. */
export function chosenLabel(storage: Storing, userAgent: string): string {
  return labelFrom(storage?.getItem(LABEL_KEY) ?? "") || labelFromUserAgent(userAgent);
}

/** "" is no choice. */
export function chooseLabel(storage: Storing, label: string): void {
  if (label) {
    storage?.setItem(LABEL_KEY, label);
  } else {
    storage?.removeItem(LABEL_KEY);
  }
}
