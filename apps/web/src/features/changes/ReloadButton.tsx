import { Button, IconButton } from "../../components/Button";
import { RefreshIcon } from "../../components/icons";
import { t } from "../../i18n/changes";

export interface ReloadButtonProps {
  /** Whether a step of the session has ended since the shown state was loaded. */
  newer: boolean;
  busy: boolean;
  onReload: () => void;
  className?: string;
}

/** Loads the state of the files again. It is not loaded without being asked for: a person may be reading it. */
export function ReloadButton({ newer, busy, onReload, className }: ReloadButtonProps) {
  if (newer) {
    return (
      <Button data-testid="newer-changes" busy={busy} className={className} onClick={onReload}>
        <RefreshIcon /> {t("changes.newer")}
      </Button>
    );
  }
  return (
    <IconButton label={t("changes.git.reload")} aria-busy={busy} className={className} onClick={onReload}>
      <RefreshIcon />
    </IconButton>
  );
}
