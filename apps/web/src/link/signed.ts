import { type Identity, signAnswer } from "@scorel/protocol";
import type { Approval, Requests } from "../api/types";

export type Answering = Requests["answer_approval"]["request"];

/** Returns an answer with this browser's signature of what was shown, what was answered, and when. */
export async function signed(
  identity: Identity,
  deviceId: string,
  fields: Answering,
  approval: Approval,
): Promise<object> {
  const { sessionId, decision, feedback } = fields;
  const answer = { deviceId, sessionId, approval, decision, feedback, at: Date.now() };
  return { ...fields, signature: await signAnswer(identity, answer) };
}
