// Creates guest links, as `scorel session share` does: the keys of a link are made in this browser, and the machine
// gets only their public halves.
import { fromBase64, fromBase64url, toBase64url } from "@scorel/protocol/base64";
import { GUEST_PATH, guestFragment, guestIdentity, SEED_LEN } from "@scorel/protocol/guest";
import type { Host } from "../../api/contract";
import type { Client, Requests } from "../../api/types";
import { t } from "../../i18n/guests";

export type SharePath = Requests["list_paths"]["response"]["paths"][number];

/** A link that was asked for. Asking again with the same one makes no second link. */
export interface Wanted {
  sessionId: string;
  label: string;
  /** How long it is valid, in milliseconds. */
  lifetime: number;
  seed: Uint8Array<ArrayBuffer>;
  /** In Unix milliseconds. */
  expiresAt: number;
}

const day = 24 * 60 * 60_000;
/** Links are valid for at most 30 days; the clock of the machine may be behind that of the browser. */
const longest = 30 * day - 60 * 60_000;

/** What is asked of a machine. Access that ends earlier than the link, `end`, ends the link as well. */
export function wanted(sessionId: string, label: string, lifetime: number, end: number | undefined): Wanted {
  const expiresAt = Math.min(Date.now() + Math.min(lifetime, longest), end || Number.POSITIVE_INFINITY);
  return { sessionId, label, lifetime, expiresAt, seed: crypto.getRandomValues(new Uint8Array(SEED_LEN)) };
}

/** Has the machine admit the client of a link, and returns the link at the page of a relay or listener. */
export async function createLink(host: Host, want: Wanted, page: string): Promise<{ url: string; client: Client }> {
  const { sessionId, label, seed } = want;
  const { id, signKey, sealKey } = await guestIdentity(seed);
  const { client, deviceSignKey, deviceSealKey, proof } = await host.request("create_guest_link", {
    ...{ sessionId, label, expiresAt: want.expiresAt },
    ...{ signKey: toBase64url(signKey), sealKey: toBase64url(sealKey) },
  });
  if (client.id !== id) {
    throw new Error(t("guests.new.otherLink"));
  }
  const fragment = guestFragment({
    ...{ seed, sessionId, signedAt: proof.signedAt, expiresAt: client.expiresAt ?? want.expiresAt },
    device: { signKey: fromBase64url(deviceSignKey), sealKey: fromBase64url(deviceSealKey) },
    proof: fromBase64(proof.signature),
  });
  const address = new URL(GUEST_PATH, page.replace(/^ws/, "http"));
  address.hash = fragment;
  return { url: address.href, client };
}

/** The paths that can serve the page of a link, the best one first. */
export function sharePaths(paths: readonly SharePath[]): SharePath[] {
  const order = ["relay", "network", "machine"];
  const rank = ({ kind }: SharePath) => (order.indexOf(kind) + order.length + 1) % (order.length + 1);
  return [...paths].sort((a, b) => rank(a) - rank(b));
}

/** Where a link can be opened, if not everywhere: on the machine alone, or on none but this one for want of https. */
export function narrowness({ kind, url }: SharePath): "machine" | "insecure" | null {
  if (kind === "machine") {
    return "machine";
  }
  const { protocol, hostname } = new URL(url.replace(/^ws/, "http"));
  const own = hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
  return protocol === "http:" && !own ? "insecure" : null;
}
