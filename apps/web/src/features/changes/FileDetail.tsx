import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { FileChange } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/changes";
import type { LinePlace } from "../diff/Block";
import { DiffView } from "../diff/DiffView";
import { CommentForm } from "./CommentForm";
import { Failed } from "./Failed";
import { quoteOf } from "./quote";

export interface FileDetailProps {
  /** Identifies the change among all queries of the page. */
  queryKey: readonly unknown[];
  /** Loads the file with its diff; null if it has not changed. */
  load: () => Promise<FileChange | null>;
  /** Shown if it has not changed. */
  unchanged: string;
  onPrompt: ((text: string) => void) | null;
  /** Shown below the diff. */
  children?: (file: FileChange) => ReactNode;
}

/** The diff of one file, or why there is none. Its lines can be commented on. */
export function FileDetail({ queryKey, load, unchanged, onPrompt, children }: FileDetailProps) {
  const one = useQuery({ queryKey, queryFn: load, retry: false, gcTime: 0 });
  if (one.isPending) {
    return (
      <div className="px-3">
        <Skeleton label={t("changes.loading")} rows={3} />
      </div>
    );
  }
  const note = "px-3 py-2 text-muted text-sm";
  const failed = one.error ? (
    <div className={note}>
      <Failed error={one.error} onRetry={() => one.refetch()} />
    </div>
  ) : null;
  if (one.data === undefined) {
    return failed;
  }
  const file = one.data;
  if (!file) {
    return failed ?? <p className={note}>{unchanged}</p>;
  }
  return (
    <>
      {failed}
      {file.closed ? <p className={note}>{t("changes.closed")}</p> : null}
      {file.binary ? <p className={note}>{t("changes.binary")}</p> : null}
      {file.diff ? (
        <CommentedDiff diff={file.diff} onPrompt={onPrompt} />
      ) : file.closed || file.binary ? null : (
        <p className={note}>{t("changes.noLines")}</p>
      )}
      {file.cut ? <p className={note}>{t("changes.cut")}</p> : null}
      {children?.(file)}
    </>
  );
}

function CommentedDiff({ diff, onPrompt }: { diff: string; onPrompt: ((text: string) => void) | null }) {
  // The diff stays as it is while a comment on it is written.
  const [commented, setCommented] = useState<{ place: LinePlace; diff: string } | null>(null);
  const shown = commented?.diff ?? diff;
  const comment =
    commented && onPrompt ? (
      <CommentForm
        line={commented.place.line}
        onCancel={() => setCommented(null)}
        onComment={(text) => {
          onPrompt(quoteOf(commented.place, text));
          setCommented(null);
        }}
      />
    ) : null;
  return (
    <DiffView
      of={{ diff: shown }}
      rows={80}
      bare
      onLine={onPrompt ? (place) => setCommented({ place, diff: shown }) : undefined}
      below={commented && comment ? { place: commented.place, node: comment } : null}
    />
  );
}
