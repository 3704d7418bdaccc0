import { type ReactNode, useState } from "react";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/shared";
import { withHelp } from "./with-help";

export interface ConfirmSheetProps {
  title: string;
  /** The consequences of the action. */
  children: ReactNode;
  confirm: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks for confirmation. An error of the action is shown in the dialog. */
export function ConfirmSheet({ title, children, confirm, onConfirm, onClose }: ConfirmSheetProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (cause) {
      setError(withHelp(cause));
      setBusy(false);
    }
  };
  return (
    <Sheet
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onClick={onClose}>
            {t("shared.confirmSheet.cancel")}
          </Button>
          <Button tone="danger" busy={busy} onClick={run}>
            {confirm}
          </Button>
        </>
      }
    >
      <div className="text-muted">{children}</div>
      <ErrorText className="mt-3">{error}</ErrorText>
    </Sheet>
  );
}
