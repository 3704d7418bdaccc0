import { createContext, useContext } from "react";
import type { Live } from "../../api/types";

/** What a tool card that has no result yet needs to know of the running turn. */
export interface LiveTools {
  tools: Live["tools"];
  approvals: Live["approvals"];
  crew: Live["crew"];
  running: boolean;
}

export const LiveContext = createContext<LiveTools>({ tools: [], approvals: [], crew: [], running: false });

/** Names the one who decided. Lives in a context, so that rows need not be told. */
export const NamesContext = createContext<(clientId: string | undefined) => string>(() => "another device");

export function useLiveTools(): LiveTools {
  return useContext(LiveContext);
}

export function useNames(): (clientId: string | undefined) => string {
  return useContext(NamesContext);
}
