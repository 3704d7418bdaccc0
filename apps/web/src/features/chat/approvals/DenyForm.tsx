import { type FormEvent, useState } from "react";
import { MAX_FEEDBACK } from "../../../api/types";
import { Button } from "../../../components/Button";
import { TextField } from "../../../components/TextField";
import { t } from "../../../i18n/chat";

export interface DenyFormProps {
  busy: boolean;
  disabled: boolean;
  onDeny: (feedback: string) => void;
  onClose: () => void;
}

/** A denial with feedback for the agent. */
export function DenyForm({ busy, disabled, onDeny, onClose }: DenyFormProps) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = text.trim();
    if (new TextEncoder().encode(trimmed).length > MAX_FEEDBACK) {
      return setError(t("chat.approvals.thisFeedbackIsTooLong"));
    }
    setError(null);
    onDeny(trimmed);
  };
  return (
    <form onSubmit={submit} noValidate className="mt-3 px-4 pb-4">
      <TextField
        label={t("chat.approvals.whatShouldTheAgentDo")}
        data-testid="approval-feedback"
        value={text}
        error={error}
        autoFocus
        autoComplete="off"
        enterKeyHint="send"
        onChange={(event) => setText(event.target.value)}
      />
      <div className="mt-2 grid grid-cols-2 gap-2 sm:flex sm:justify-end">
        <Button tone="quiet" disabled={busy} onClick={onClose}>
          {t("chat.approvals.back")}
        </Button>
        <Button type="submit" data-testid="approval-deny-word" busy={busy} disabled={disabled}>
          {t("chat.approvals.deny")}
        </Button>
      </div>
    </form>
  );
}
