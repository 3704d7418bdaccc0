import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import { MAX_NAME, type SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/session";
import { useAct } from "../shared/use-act";

export function RenameForm({ host, session, onDone }: { host: Host; session: SessionSummary; onDone: () => void }) {
  const [name, setName] = useState(session.name);
  const [problem, setProblem] = useState<string | null>(null);
  const { busy, error, act } = useAct();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = name.trim();
    const wrong = problemOf(trimmed);
    setProblem(wrong);
    if (wrong) {
      return;
    }
    void act("rename", async () => {
      await host.request("rename_session", { sessionId: session.id, name: trimmed });
      onDone();
    });
  };
  return (
    <form onSubmit={submit} noValidate className="mt-4 flex items-start gap-2">
      <TextField
        label={t("session.renameForm.name")}
        value={name}
        onChange={(event) => setName(event.target.value)}
        error={problem ?? error}
        autoComplete="off"
        className="min-w-0 flex-1"
      />
      <Button type="submit" busy={busy !== null} disabled={name.trim() === session.name} className="mt-6">
        {t("session.renameForm.rename")}
      </Button>
    </form>
  );
}

function problemOf(name: string): string | null {
  if (name === "") {
    return t("session.renameForm.enterAName");
  }
  return new TextEncoder().encode(name).length > MAX_NAME ? t("session.renameForm.theNameIsTooLong") : null;
}
