import { Button } from "../../components/Button";
import { MachineIcon } from "../../components/icons";
import { t } from "../../i18n/move";

/** The button that opens the choice of another machine; `onMove` is null if this browser may not move sessions. */
export function MoveAction({ onMove }: { onMove: (() => void) | null }) {
  return (
    <div>
      <Button
        data-testid="move-session"
        className="max-sm:w-full max-sm:justify-start"
        disabled={onMove === null}
        onClick={onMove ?? undefined}
      >
        <MachineIcon /> {t("move.action.move")}
      </Button>
      {onMove ? null : <p className="mt-1.5 text-muted text-sm">{t("move.action.notAllowed")}</p>}
    </div>
  );
}
