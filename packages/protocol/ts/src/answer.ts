// The signature of a client's answer to an approval, so that the log proves who
// allowed what. It corresponds to the Go package proof.

import { type Bytes, concat, toBase64url, utf8 } from "./base64.ts";
import { uint32 } from "./chain.ts";
import type { Approval, Decision } from "./gen/api.ts";
import type { AnswerSignature } from "./gen/session.ts";
import type { Identity } from "./ident.ts";
import { sha256 } from "./sha256.ts";

/** A client's answer to an approval, addressed to the host of a device. */
export interface SignedAnswer {
  deviceId: string;
  sessionId: string;
  approval: Approval;
  decision: Decision;
  feedback?: string | undefined;
  /** Unix milliseconds. */
  at: number;
}

/** Returns the SHA-256 of an approval as it is shown to a person. */
export function shownDigest(a: Approval): Bytes {
  return sha256(
    concat(
      utf8("scorel shown v1\0"),
      text(a.id),
      text(a.toolCallId),
      text(a.toolName),
      text(a.title),
      field(sha256(utf8(a.detail))),
      text(a.cwd),
      text(a.command ?? ""),
      list(a.paths),
      text(a.reason ?? ""),
      text(a.risk?.level ?? ""),
      list(a.risk?.reasons),
      list(a.proposedRules),
      text(a.shown ?? ""),
    ),
  );
}

/** Returns the bytes that the client with the given id signs. */
export function answerMessage(answer: SignedAnswer, clientId: string): Bytes {
  const at = new Uint8Array(8);
  new DataView(at.buffer).setBigInt64(0, BigInt(answer.at));
  return concat(
    utf8("scorel approval v1\0"),
    text(answer.deviceId),
    text(clientId),
    text(answer.sessionId),
    text(answer.approval.id),
    field(shownDigest(answer.approval)),
    text(answer.decision),
    text(answer.feedback ?? ""),
    list(answer.decision === "always" ? answer.approval.proposedRules : []),
    at,
  );
}

/** Signs an answer. Returns the signature in the form in which it is sent and stored. */
export async function signAnswer(me: Identity, answer: SignedAnswer): Promise<AnswerSignature> {
  const value = await me.sign(answerMessage(answer, me.id));
  return {
    deviceId: answer.deviceId,
    sessionId: answer.sessionId,
    signKey: toBase64url(me.signKey),
    sealKey: toBase64url(me.sealKey),
    at: answer.at,
    value: toBase64url(value),
  };
}

function field(bytes: Uint8Array): Bytes {
  return concat(uint32(bytes.length), bytes);
}

function text(value: string): Bytes {
  return field(utf8(value));
}

function list(values: readonly string[] | undefined): Bytes {
  return concat(uint32(values?.length ?? 0), ...(values ?? []).map(text));
}
