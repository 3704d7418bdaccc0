import { type ReactNode, useState } from "react";
import { t } from "../i18n/components";
import { Button } from "./Button";
import { Sheet } from "./Sheet";

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
  const [error, setError] = useState<string | null>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : String(cause));
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
            {t("components.confirmSheet.cancel")}
          </Button>
          <Button tone="danger" busy={busy} onClick={run}>
            {confirm}
          </Button>
        </>
      }
    >
      <div className="text-muted">{children}</div>
      {error ? (
        <p role="alert" className="mt-3 text-danger text-sm">
          {error}
        </p>
      ) : null}
    </Sheet>
  );
}
