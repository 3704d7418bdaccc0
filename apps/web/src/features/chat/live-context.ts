import { createContext, useContext } from "react";
import type { GetProcessLogResponse, Live, Process } from "../../api/types";

/** What a tool card that has no result yet needs to know of the running turn. */
export interface LiveTools {
  tools: Live["tools"];
  approvals: Live["approvals"];
  questions: Live["questions"];
  crew: Live["crew"];
  running: boolean;
}

export const LiveContext = createContext<LiveTools>({
  tools: [],
  approvals: [],
  questions: [],
  crew: [],
  running: false,
});

/** Names the one who decided. Lives in a context, so that rows need not be told. */
export const NamesContext = createContext<(clientId: string | undefined) => string>(() => "another device");

/** Operations that run, or whose record is not in the log yet. */
export const ProcessContext = createContext<readonly Process[]>([]);

/** Reads a page of an operation's log. */
export type LogReader = (processLogRef: string, from: number) => Promise<GetProcessLogResponse>;

export const LogContext = createContext<LogReader>(() => Promise.reject(new Error("There is no log here.")));

export function useProcesses(): readonly Process[] {
  return useContext(ProcessContext);
}

export function useLogReader(): LogReader {
  return useContext(LogContext);
}

export function useLiveTools(): LiveTools {
  return useContext(LiveContext);
}

export function useNames(): (clientId: string | undefined) => string {
  return useContext(NamesContext);
}
