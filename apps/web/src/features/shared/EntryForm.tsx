import type { FormEvent, ReactNode } from "react";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";

export interface EntryFormProps {
  /** The prefix of its test ids. */
  testId: string;
  /** Whether it is new and can be named here; existing ones keep their name. */
  isNew: boolean;
  name: string;
  namePlaceholder: string;
  onName: (name: string) => void;
  error: ReactNode;
  busy: boolean;
  /** Whether it can be saved. */
  ready: boolean;
  onSave: () => void;
  onCancel: () => void;
  /** Shown beside the buttons. */
  action?: ReactNode;
  children: ReactNode;
}

/** The form of a named item: name, fields, the host's message, and buttons. */
export function EntryForm(props: EntryFormProps) {
  const { testId, isNew, name, namePlaceholder, onName, error, busy, ready, onSave, onCancel, action, children } =
    props;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave();
  };
  return (
    <form
      data-testid={`${testId}-form`}
      onSubmit={submit}
      noValidate
      className="mt-2 space-y-3 rounded-md border border-line p-3"
    >
      {isNew ? (
        <TextField
          label={t("project.agentForm.name")}
          mono
          value={name}
          placeholder={namePlaceholder}
          data-testid={`${testId}-name`}
          autoFocus
          autoCapitalize="off"
          onChange={(e) => onName(e.target.value)}
        />
      ) : (
        <h4 className="break-words font-medium text-sm">{name}</h4>
      )}
      {children}
      <ErrorText>{error}</ErrorText>
      <div className="flex flex-wrap justify-end gap-2">
        {action}
        <Button onClick={onCancel}>{t("project.agentForm.cancel")}</Button>
        <Button type="submit" tone="primary" data-testid={`${testId}-save`} busy={busy} disabled={!ready}>
          {t("project.agentForm.save")}
        </Button>
      </div>
    </form>
  );
}
