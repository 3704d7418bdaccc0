// Moves a session between two machines, as `scorel session move` does: this browser introduces them to each other.
import { ApiError, type Host } from "../../api/contract";
import { ApiKind, type Requests } from "../../api/types";
import { t } from "../../i18n/move";

export type Move = Requests["get_move"]["response"]["move"];

export interface Arranging {
  from: Host;
  to: Host;
  sessionId: string;
  projectId: string;
  /** Whether to wait until a running turn ends. */
  wait: boolean;
  /** Aborted when the person cancels before the machines have met. */
  signal: AbortSignal;
}

/** Introduces the machines to each other. If that fails, nothing has changed. */
export async function arrangeMove({ from, to, sessionId, projectId, wait, signal }: Arranging): Promise<Move> {
  const { move, offer } = await from.request("prepare_move", { sessionId, to: to.deviceId, wait });
  try {
    signal.throwIfAborted();
    const { keys, paths, proof } = await to.request("accept_move", { offer, projectId });
    signal.throwIfAborted();
    // The machine that has the session rejects keys that are not those of the chosen machine.
    return (await from.request("start_move", { moveId: move.id, keys, paths, proof })).move;
  } catch (err) {
    // Without this, the move expires later.
    await Promise.allSettled([from, to].map((host) => host.request("cancel_move", { moveId: move.id })));
    const old = err instanceof ApiError && err.kind === ApiKind.unknown_request;
    throw old ? new Error(t("move.sheet.tooOld")) : err;
  }
}

/** Returns the pending move of a session; null if there is none. */
export async function currentMove(host: Host, sessionId: string): Promise<Move | null> {
  const { moves } = await host.request("list_moves", {});
  return moves.find((each) => each.sessionId === sessionId && !each.incoming && !isOver(each)) ?? null;
}

export function isOver({ state }: Move): boolean {
  return state === "done" || state === "canceled";
}
