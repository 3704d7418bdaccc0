import { createContext, useContext } from "react";
import type { Timelines } from "../../../api/timelines";
import type { GetProcessLogResponse, Live, Process, ProcessLine, ToolCallBlock } from "../../../api/types";
import { t } from "../../../i18n/chat";

/** The facts about the running turn that a tool card without a result needs. */
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

/** Returns the name of the client that decided. It is a context, so that rows need no further props. */
export const NamesContext = createContext<(clientId: string | undefined) => string>(() =>
  t("chat.context.anotherDevice"),
);

/** Operations that are running, or whose record is not in the log yet. */
export const ProcessContext = createContext<readonly Process[]>([]);

/** The progress reported so far, by operation id. */
export const TimelineContext = createContext<Timelines>(new Map());

const noLines: readonly ProcessLine[] = [];

/** Returns the newest lines that a running operation reported. */
export function useTimeline(operationId: string): readonly ProcessLine[] {
  return useContext(TimelineContext).get(operationId) ?? noLines;
}

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

/** Keeps an element open that would otherwise fold. */
export const KeepOpenContext = createContext<(element: Element) => void>(() => {});

export function useKeepOpen(): (element: Element) => void {
  return useContext(KeepOpenContext);
}

/** How the reads of a row are folded with those of the rows around it; null if they are not. */
export interface ReadFold {
  /** Whether the row shows the line for all of them. */
  head: boolean;
  open: boolean;
  calls: readonly ToolCallBlock[];
  toggle(): void;
}
