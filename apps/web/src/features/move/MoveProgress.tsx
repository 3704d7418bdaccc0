import { ErrorText } from "../../components/ErrorText";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/move";
import type { Move } from "./move-session";

/** The progress of a move; `move` is null before the machines have met. */
export function MoveProgress({ move, wait }: { move: Move | null; wait: boolean }) {
  const percent = move ? Math.floor((100 * move.sent) / Math.max(1, move.total)) : 0;
  const skipped = (move?.skipped?.length ?? 0) + (move?.moreSkipped ?? 0);
  return (
    <div>
      <p role="status" data-testid="move-state" data-state={move?.state} className="flex items-center gap-2">
        <Spinner /> {stateText(move, wait, percent)}
      </p>
      {move && move.state !== "canceling" ? (
        <progress
          className="mt-3 h-2 w-full accent-accent"
          max={100}
          value={percent}
          aria-label={t("move.sheet.title")}
        />
      ) : null}
      {move?.error && move.state !== "canceling" ? (
        <ErrorText className="mt-2">{t("move.progress.waiting", { reason: move.error })}</ErrorText>
      ) : null}
      {skipped > 0 ? <p className="mt-3 text-muted text-sm">{t("move.progress.skipped", { count: skipped })}</p> : null}
      {move ? <p className="mt-3 text-muted text-sm">{t("move.progress.withoutPage")}</p> : null}
    </div>
  );
}

function stateText(move: Move | null, wait: boolean, percent: number): string {
  switch (move?.state) {
    case undefined:
      return wait ? t("move.progress.waitingForTurn") : t("move.progress.preparing");
    case "prepared":
      return t("move.progress.preparing");
    case "sending":
      return t("move.progress.sending", { percent });
    case "canceling":
      return t("move.progress.canceling");
    default:
      return t("move.progress.committed");
  }
}
