import { cx } from "../../../components/cx";
import { t } from "../../../i18n/chat";
import type { ReadFold } from "../context/live-context";
import { AssistantRow, ErrorCard } from "../messages/AssistantRow";
import { SummaryRow } from "../messages/SummaryRow";
import { UserRow } from "../messages/UserRow";
import { ResultRow } from "../tools/ResultRow";
import type { Row } from "./rows";

export interface RowViewProps {
  row: Row;
  previous: Row | undefined;
  /** The id of this browser. */
  me: string | undefined;
  /** How the reads at the end of the row are folded. */
  fold: ReadFold | null;
}

/** One row of the transcript. */
export function RowView({ row, previous, me, fold }: RowViewProps) {
  switch (row.kind) {
    case "user":
      return <UserRow entry={row.entry} message={row.message} mine={me !== undefined && row.entry.clientId === me} />;
    case "assistant":
      return (
        <AssistantRow
          entryId={row.entryId}
          message={row.message}
          tools={row.tools}
          first={previous?.kind !== "assistant"}
          fold={fold}
          writing={row.writing}
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
          {t("chat.transcript.unknownEntry", { type: row.type })}
        </p>
      );
  }
}
