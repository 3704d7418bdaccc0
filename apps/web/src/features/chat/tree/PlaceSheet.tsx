import { type FormEvent, type ReactNode, useState } from "react";
import { MAX_LABEL } from "../../../api/types";
import { Button } from "../../../components/Button";
import { ErrorText } from "../../../components/ErrorText";
import { BranchIcon, EditIcon, RefreshIcon } from "../../../components/icons";
import { Sheet } from "../../../components/Sheet";
import { TextField } from "../../../components/TextField";
import { t } from "../../../i18n/chat";
import { withHelp } from "../../shared/with-help";
import type { Place } from "../context/history-context";
import type { HistoryActions } from "./use-history-actions";

export interface PlaceSheetProps {
  place: Place;
  label: string;
  actions: HistoryActions;
  /** Whether the place is on the session's current path. */
  onPath: boolean;
  /** Called when the session has moved to another place, or another session is shown. */
  onMoved: () => void;
  onClose: () => void;
}

/** The actions at one place of a session. */
export default function PlaceSheet({ place, label, actions, onPath, onMoved, onClose }: PlaceSheetProps) {
  const [error, setError] = useState<ReactNode>(null);
  const [busy, setBusy] = useState(false);
  const [summarize, setSummarize] = useState(false);
  const run = async (action: () => Promise<void>, done: () => void) => {
    setBusy(true);
    setError(null);
    try {
      await action();
      done();
    } catch (cause) {
      setError(withHelp(cause));
      setBusy(false);
    }
  };
  const go = () =>
    run(() => (onPath && !summarize ? actions.rewind(place) : actions.navigate(place, summarize)), onMoved);
  return (
    <Sheet title={place.before ? t("chat.tree.editFromHere") : t("chat.tree.continueFromHere")} onClose={onClose}>
      <p className="mb-4 line-clamp-3 border-line border-l-2 pl-3 text-muted text-sm">
        {place.text || t("chat.tree.noText")}
      </p>
      <div className="flex flex-col gap-2">
        <Button data-testid="go-here" busy={busy} onClick={go} className="justify-start">
          <RefreshIcon /> {place.before ? t("chat.tree.editAndResend") : t("chat.tree.continueFromHere")}
        </Button>
        <label className="touchable flex items-center gap-2 px-3.5 text-muted text-sm">
          <input
            type="checkbox"
            checked={summarize}
            onChange={(event) => setSummarize(event.target.checked)}
            className="size-4 accent-accent"
          />
          {t("chat.tree.carryOverASummaryOf")}
        </label>
        <Button
          data-testid="fork-here"
          disabled={busy}
          onClick={() => run(() => actions.fork(place), onMoved)}
          className="justify-start"
        >
          <BranchIcon /> {t("chat.tree.forkIntoANewSession")}
        </Button>
      </div>
      <p className="mt-2 text-faint text-sm">{t("chat.tree.theCurrentVersionIsKept")}</p>
      <ErrorText className="mt-3">{error}</ErrorText>
      <LabelForm label={label} disabled={busy} onSave={(text) => run(() => actions.label(place, text), onClose)} />
    </Sheet>
  );
}

interface LabelFormProps {
  label: string;
  disabled: boolean;
  onSave: (text: string) => void;
}

function LabelForm({ label, disabled, onSave }: LabelFormProps) {
  const [text, setText] = useState(label);
  const [error, setError] = useState<ReactNode>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (new TextEncoder().encode(text.trim()).length > MAX_LABEL) {
      return setError(t("chat.tree.thisLabelIsTooLong"));
    }
    setError(null);
    onSave(text.trim());
  };
  return (
    <form onSubmit={submit} noValidate className="mt-5 flex items-end gap-2 border-line border-t pt-4">
      <TextField
        label={t("chat.tree.label")}
        value={text}
        error={error}
        autoComplete="off"
        placeholder={t("chat.tree.forExampleBeforeTheRefactoring")}
        className="min-w-0 flex-1"
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit" disabled={disabled || text.trim() === label}>
        <EditIcon /> {text.trim() === "" && label ? t("chat.tree.removeLabel") : t("chat.tree.label")}
      </Button>
    </form>
  );
}
