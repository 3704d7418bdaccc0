import { type FormEvent, useState } from "react";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/shared";

/** Asks for the invite that a relay requires of new clients. */
export function InviteStrip({ text, onInvite }: { text: string; onInvite: (invite: string) => void }) {
  const [invite, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onInvite(invite.trim());
  };
  return (
    <form
      data-testid="link-banner"
      aria-label={t("shared.linkLight.connectionToTheRelay")}
      onSubmit={submit}
      className="safe-x shrink-0 border-warn-line border-b bg-warn-soft py-2 text-sm"
    >
      <p className="text-warn">{text}</p>
      <div className="mt-2 flex items-end gap-3">
        <TextField
          className="min-w-0 max-w-xs flex-1"
          label={t("shared.linkLight.invite")}
          mono
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={64}
          value={invite}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" tone="primary" disabled={invite.trim() === ""}>
          {t("shared.linkLight.join")}
        </Button>
      </div>
    </form>
  );
}
