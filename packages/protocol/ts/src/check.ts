// Validation of decoded frames, with the same rules as validate() of the Go package
// wire. Each check returns what is wrong, or null.

import { fromBase64, fromBase64url, utf8 } from "./base64.ts";
import {
  CROCKFORD,
  type EntryHello,
  type Frame,
  type HostHello,
  MAX_AUTHORITY,
  MAX_INVITE,
  MAX_LABEL,
  MAX_PAIR_BODY,
  MAX_REQUEST_ID,
  NONCE_LEN,
  type Peer,
  SLOT_LEN,
} from "./gen/wire.ts";
import { idOf, isId } from "./ident.ts";

const PROOF_LEN = 64;

/** Returns what is wrong with a frame whose fields have the right types. */
export function checkFrame(f: Frame): string | null {
  switch (f.type) {
    case "relay_hello":
      return byteCount(f.nonce) === NONCE_LEN ? null : `nonce must have ${NONCE_LEN} bytes`;
    case "welcome":
      return checkWelcome(f.id, f.peers);
    case "host_hello":
    case "entry_hello":
      return checkHello(f);
    case "create_pair_session":
      return checkRequestId(f.requestId);
    case "pair_session":
    case "redeem_pair":
      return checkRequestId(f.requestId) ?? checkSlot(f.slot);
    case "pair_joined":
    case "pair_complete":
      return checkSlot(f.slot) ?? checkPeer(f.peer);
    case "pair_message":
      return checkSlot(f.slot) ?? checkBody(f.body);
    case "pair_accept":
    case "pair_reject":
      return checkSlot(f.slot);
    case "open_channel":
      return checkRequestId(f.requestId) ?? checkDevice(f.deviceId);
    case "device_online":
    case "device_offline":
      return checkDevice(f.deviceId);
    case "channel_opened":
    case "binding_revoked":
      return checkSomeId(f.peerId);
    case "revoke_binding":
      return checkRequestId(f.requestId) ?? checkSomeId(f.peerId);
    case "claim_binding":
      return checkRequestId(f.requestId) ?? checkDevice(f.deviceId) ?? checkProof(f.proof);
    case "binding_claimed":
      return checkRequestId(f.requestId) ?? checkPeer(f.peer);
    case "peer_bound":
      return checkPeer(f.peer);
    default:
      return null;
  }
}

/** Reports whether the text is a slot in its canonical, upper-case form. */
export function validSlot(slot: string): boolean {
  return slot.length === SLOT_LEN && [...slot].every((c) => CROCKFORD.includes(c));
}

/** Returns what is wrong with a label shown to people, or null. */
export function checkLabel(label: string): string | null {
  const bytes = utf8(label).length;
  if (bytes === 0 || bytes > MAX_LABEL) {
    return `label must have 1 to ${MAX_LABEL} bytes`;
  }
  return /[\p{Cc}\p{Cf}\uFFFD]/u.test(label) ? "label contains a control character" : null;
}

function checkWelcome(id: string, peers: Peer[]): string | null {
  if (id === "") {
    return "id is missing";
  }
  for (const peer of peers) {
    const wrong = checkPeer(peer);
    if (wrong) {
      return wrong;
    }
  }
  return null;
}

function checkHello(h: HostHello | EntryHello): string | null {
  const kind = h.type === "host_hello" ? "dev" : "cli";
  const authority = utf8(h.authority).length;
  if (!isId(h.id, kind)) {
    return `id is not a ${kind}_ id`;
  }
  if (!idFits(h)) {
    return "id does not match the keys";
  }
  if (authority === 0 || authority > MAX_AUTHORITY) {
    return "authority is missing or too long";
  }
  const unproven = checkProof(h.proof);
  if (unproven) {
    return unproven;
  }
  if (utf8(h.invite ?? "").length > MAX_INVITE) {
    return `invite is longer than ${MAX_INVITE} bytes`;
  }
  return checkLabel(h.label);
}

function checkPeer(p: Peer): string | null {
  return idFits(p) ? checkLabel(p.label) : "peer id does not match the peer keys";
}

function idFits(p: { id: string; signKey: string; sealKey: string }): boolean {
  const kind = isId(p.id, "dev") ? "dev" : "cli";
  return idOf(kind, fromBase64url(p.signKey), fromBase64url(p.sealKey)) === p.id;
}

function checkRequestId(id: string): string | null {
  const bytes = utf8(id).length;
  return bytes === 0 || bytes > MAX_REQUEST_ID ? `requestId must have 1 to ${MAX_REQUEST_ID} bytes` : null;
}

function checkSlot(slot: string): string | null {
  return validSlot(slot) ? null : `slot must be ${SLOT_LEN} Crockford base32 digits`;
}

function checkBody(body: string): string | null {
  const bytes = byteCount(body);
  return bytes === 0 || bytes > MAX_PAIR_BODY ? `body must have 1 to ${MAX_PAIR_BODY} bytes` : null;
}

function checkSomeId(id: string): string | null {
  return id === "" ? "id is missing" : null;
}

function checkProof(proof: string): string | null {
  return byteCount(proof) === PROOF_LEN ? null : `proof must have ${PROOF_LEN} bytes`;
}

function checkDevice(id: string): string | null {
  return isId(id, "dev") ? null : "deviceId is not a device id";
}

function byteCount(base64: string): number {
  return fromBase64(base64).length;
}
