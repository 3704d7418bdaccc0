import { useMemo, useState } from "react";
import type { SessionEntry } from "../../../api/types";
import { BranchRows } from "./branch-rows";
import type { Row } from "./rows";

/** Returns the rows of the branch that ends at `tip`, or at the last entry. Unchanged rows keep their identity. */
export function useRows(entries: SessionEntry[], tip?: string): Row[] {
  const [branch] = useState(() => new BranchRows());
  return useMemo(() => branch.update(entries, tip), [branch, entries, tip]);
}
