import { pathTo } from "@scorel/protocol/tree";
import { useMemo, useRef } from "react";
import type { SessionEntry } from "../../api/types";
import { buildRows, type Row } from "./rows";

/** The rows of the branch that ends at `tip`, or at the last entry. Rows that did not change keep their identity. */
export function useRows(entries: SessionEntry[], tip?: string): Row[] {
  const previous = useRef<Row[]>([]);
  return useMemo(() => {
    previous.current = buildRows(pathTo(entries, tip), previous.current);
    return previous.current;
  }, [entries, tip]);
}
