import { cx } from "../../components/cx";
import { AssistantRow, ErrorCard } from "./AssistantRow";
import { ResultRow } from "./ResultRow";
import type { Row } from "./rows";
import { SummaryRow } from "./SummaryRow";
import { UserRow } from "./UserRow";

export interface RowViewProps {
  row: Row;
  previous: Row | undefined;
  /** The id of this browser. */
  me: string | undefined;
}

/** One row of the transcript. */
export function RowView({ row, previous, me }: RowViewProps) {
  switch (row.kind) {
    case "user":
      return <UserRow entry={row.entry} message={row.message} mine={row.entry.clientId === me} />;
    case "assistant":
      return (
        <AssistantRow
          entryId={row.entryId}
          message={row.message}
          tools={row.tools}
          first={previous?.kind !== "assistant"}
        />
      );
    case "summary":
      return <SummaryRow title={row.title} text={row.text} />;
    case "result":
      return <ResultRow result={row.result} />;
    case "note":
      return (
        <p
          className={cx(
            "mb-4 text-balance break-words text-center text-faint text-xs",
            previous?.kind === "note" ? "-mt-3" : "mt-4",
          )}
        >
          {row.text}
        </p>
      );
    case "error":
      return <ErrorCard text={row.text} />;
    case "unknown":
      return (
        <p data-testid="unknown-entry" className="caption my-3 text-faint">
          unknown entry: {row.type}
        </p>
      );
  }
}
