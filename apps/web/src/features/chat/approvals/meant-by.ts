import type { Approval, Decision } from "../../../api/types";

/** The decisions that keys make. */
export const byKey = ["allow", "always", "deny"] as const;
export type ByKey = (typeof byKey)[number];

const kinds = { allow: "allow_once", always: "allow_always", deny: "reject_once" };

/** Returns the answer that a key gives: of another program's answers, the first of its kind, if there is one. */
export function meantBy(key: ByKey, { choices }: Approval): Decision | undefined {
  return choices?.length ? choices.find(({ kind }) => kind === kinds[key])?.decision : key;
}
