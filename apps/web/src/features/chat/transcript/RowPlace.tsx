import type { SessionView } from "../../../api/contract";
import type { PartialBlock } from "../../../api/types";
import { usePartial } from "../context/partial";
import { RowView, type RowViewProps } from "./RowView";
import type { Row } from "./rows";

/** The source of a streaming answer's text, and its model. */
export interface Writer {
  view: Pick<SessionView, "state">;
  model: string | undefined;
  demo: boolean;
}

export interface RowPlaceProps extends Omit<RowViewProps, "row"> {
  /** Null while the answer streams. */
  row: Row | null;
  writer: Writer | null;
}

/** The place of a row. While an answer streams in it, only this is rendered again. */
export function RowPlace({ row, writer, ...props }: RowPlaceProps) {
  const partial = usePartial(writer && !row ? writer.view : null);
  const shown = row ?? (writer ? written(partial, writer) : null);
  return shown ? <RowView row={shown} {...props} /> : null;
}

const noTools = new Map();

function written(writing: readonly PartialBlock[], { model, demo }: Writer): Row {
  const message = {
    role: "assistant" as const,
    content: [],
    stopReason: "stop" as const,
    timestamp: 0,
    ...(model === undefined ? {} : { model }),
    ...(demo ? { provider: "demo" } : {}),
  };
  return { kind: "assistant", key: "", entryId: "", message, tools: noTools, writing };
}
