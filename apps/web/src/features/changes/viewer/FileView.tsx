import type { ReactNode } from "react";
import { ApiError, type Host } from "../../../api/contract";
import { ApiKind } from "../../../api/types";
import { Button } from "../../../components/Button";
import { Skeleton } from "../../../components/Skeleton";
import { t } from "../../../i18n/changes";
import { sizeText } from "../../shared/size-text";
import { Failed } from "../Failed";
import { FileLines } from "./FileLines";
import { isPicture } from "./file-lines";
import { useFile } from "./use-file";

export interface FileViewProps {
  host: Host;
  sessionId: string;
  path: string;
  /** The line to show, from 1; 0 for the beginning of the file. */
  line: number;
  end: number;
  onPrompt: ((text: string) => void) | null;
  /** Renders the view of a missing file, given the default view. */
  missing?: (failed: ReactNode) => ReactNode;
}

/** A file with its line numbers, or why it cannot be shown. */
export function FileView({ host, sessionId, path, line, end, onPrompt, missing }: FileViewProps) {
  const { first, lines, next, seeking, busy, failed, more } = useFile(host, sessionId, path, line);
  if (first.isPending || seeking) {
    return <Skeleton label={t("changes.loading")} rows={8} />;
  }
  if (!first.data) {
    const failed = <Failed error={first.error} onRetry={() => first.refetch()} />;
    const unknown = first.error instanceof ApiError && first.error.kind === ApiKind.not_found;
    return unknown && missing ? missing(failed) : failed;
  }
  const note = "text-muted text-sm";
  if (first.data.binary) {
    const size = sizeText(first.data.size);
    return (
      <p role="status" className={note}>
        {isPicture(path) ? t("changes.image", { size }) : t("changes.binaryFile", { size })}
      </p>
    );
  }
  if (lines.length === 0 && next === 0) {
    return <p className={note}>{t("changes.emptyFile")}</p>;
  }
  return (
    <div className="space-y-2">
      {line > lines.length ? (
        <p role="status" className="text-sm text-warn">
          {next > 0 ? t("changes.lineFurther", { line }) : t("changes.noSuchLine", { line, count: lines.length })}
        </p>
      ) : null}
      <FileLines path={path} lines={lines} line={line} end={end} onPrompt={onPrompt} />
      {failed ? <Failed error={failed} onRetry={more} /> : null}
      {next > 0 && !failed ? (
        <Button busy={busy} onClick={more}>
          {t("changes.more")}
        </Button>
      ) : null}
    </div>
  );
}
