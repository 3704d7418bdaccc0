import { useMemo, useState } from "react";
import type { SessionEntry } from "../../../api/types";
import { BranchRows } from "./branch-rows";
import type { Row } from "./rows";

/** The rows of the branch that ends at `tip`, or at the last entry. Rows that did not change keep their identity. */
export function useRows(entries: SessionEntry[], tip?: string): Row[] {
  const [branch] = useState(() => new BranchRows());
  return useMemo(() => branch.update(entries, tip), [branch, entries, tip]);
}
