import { Button } from "../../../components/Button";
import { StopIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useEscapeStops } from "./use-escape-stops";

export interface StopButtonProps {
  onStop: () => void;
  stopping: boolean;
  /** Leaves more room for the text on a phone. */
  compact: boolean;
}

/** Stops the turn, by a click or by pressing Escape twice. */
export function StopButton({ onStop, stopping, compact }: StopButtonProps) {
  const armed = useEscapeStops(stopping ? null : onStop);
  return (
    <>
      <Button
        data-testid="cancel-turn"
        title={t("chat.composer.stopTitle")}
        disabled={stopping}
        onClick={onStop}
        className={armed ? "border-danger-line! bg-danger-soft!" : undefined}
      >
        <StopIcon className="text-danger" />
        <span className={compact ? "max-sm:sr-only" : undefined}>
          {stopping ? t("chat.composer.stopping") : armed ? t("chat.composer.escapeAgain") : t("chat.composer.stop")}
        </span>
      </Button>
      <span role="status" className="sr-only">
        {armed ? t("chat.composer.escapeAgain") : ""}
      </span>
    </>
  );
}
