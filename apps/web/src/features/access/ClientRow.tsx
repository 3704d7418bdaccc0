import { type FormEvent, useEffect, useRef, useState } from "react";
import { labelFrom } from "../../api/label";
import type { Client, Project } from "../../api/types";
import { Badge, Dot } from "../../components/Badge";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/access";
import { locale } from "../../i18n/i18n";
import { clock } from "../shared/time";
import { useAct } from "../shared/use-act";
import { mayDo, seen, untilWhen } from "./words";

export interface ClientRowProps {
  client: Client;
  /** Whether it is this browser. */
  own: boolean;
  now: number;
  onRename: (label: string) => Promise<void>;
  onRevoke: () => void;
  /** Opens the form for its access. */
  onAccess: () => void;
  /** The host's projects, once loaded. */
  projects: readonly Project[] | undefined;
}

/** A browser or terminal: its access, when it was last seen, and its name, which can be changed. */
export function ClientRow({ client, own, now, projects, onRename, onRevoke, onAccess }: ClientRowProps) {
  const [renaming, setRenaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const renamed = useRef(false);
  const expired = Boolean(client.expiresAt) && (client.expiresAt ?? 0) <= now;
  // The form had the focus and was closed: return the focus to the button that opened it.
  useEffect(() => {
    if (!renaming && renamed.current) {
      button.current?.focus();
    }
    renamed.current = renaming;
  }, [renaming]);
  return (
    <div data-testid="client" className="py-3">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <bdi className="min-w-0 font-medium [overflow-wrap:anywhere]">{client.label}</bdi>
        {own ? <Badge tone="accent">{t("access.accessSheet.thisBrowser")}</Badge> : null}
      </p>
      <p className="mt-0.5 text-muted text-sm">{mayDo(client.grants)}</p>
      <p data-testid="client-limits" className="mt-0.5 flex flex-wrap gap-x-1.5 text-muted text-sm">
        <span className="min-w-0 [overflow-wrap:anywhere]">{seen(client, projects)}</span>
        <span aria-hidden="true">·</span>
        <span className={cx(expired && "font-medium text-warn")}>{untilWhen(client, now)}</span>
      </p>
      <p className="mt-0.5 flex flex-wrap items-center gap-x-1.5 text-faint text-sm">
        <Dot tone={client.online ? "accent" : "neutral"} />
        <span data-testid="last-seen">{lastSeen(client, now)}</span>
        <span aria-hidden="true">·</span>
        {t("access.accessSheet.pairedAgo", { time: clock(client.pairedAt) })}
      </p>
      <code className="mt-0.5 block break-all font-mono text-faint text-xs">{client.id}</code>
      {renaming ? (
        <RenameForm label={client.label} onRename={onRename} onDone={() => setRenaming(false)} />
      ) : (
        <div className="-ml-3.5 mt-1 flex flex-wrap gap-x-1">
          <Button
            tone="quiet"
            aria-label={
              own || client.sessionId
                ? t("access.limits.showOf", { label: client.label })
                : t("access.limits.changeOf", { label: client.label })
            }
            data-testid="client-grants"
            onClick={onAccess}
          >
            {own || client.sessionId ? t("access.limits.show") : t("access.limits.change")}
          </Button>
          <Button
            ref={button}
            tone="quiet"
            aria-label={t("access.accessSheet.renameName", { label: client.label })}
            data-testid="rename-client"
            onClick={() => setRenaming(true)}
          >
            {t("access.accessSheet.rename")}
          </Button>
          <Button
            tone="quiet"
            aria-label={t("access.accessSheet.revokeName", { label: client.label })}
            data-testid="revoke-client"
            onClick={onRevoke}
          >
            {t("access.accessSheet.revoke")}
          </Button>
        </div>
      )}
    </div>
  );
}

interface RenameFormProps {
  label: string;
  onRename: (label: string) => Promise<void>;
  onDone: () => void;
}

function RenameForm({ label, onRename, onDone }: RenameFormProps) {
  const [name, setName] = useState(label);
  const { busy, error, act } = useAct();
  const wanted = labelFrom(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted === label) {
      return onDone();
    }
    void act("rename", async () => {
      await onRename(wanted);
      onDone();
    });
  };
  return (
    <form onSubmit={submit} noValidate className="mt-2">
      <TextField
        label={t("access.accessSheet.name")}
        hint={t("access.accessSheet.nameHint")}
        value={name}
        error={error}
        autoComplete="off"
        autoFocus
        onChange={(event) => setName(event.target.value)}
        data-testid="client-name"
      />
      <div className="mt-2 flex gap-2">
        <Button type="submit" tone="primary" busy={busy !== null} disabled={wanted === ""} data-testid="save-name">
          {t("access.accessSheet.save")}
        </Button>
        <Button tone="quiet" onClick={onDone}>
          {t("access.accessSheet.cancel")}
        </Button>
      </div>
    </form>
  );
}

const minute = 60_000;
const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 24 * 60 * minute],
  ["hour", 60 * minute],
  ["minute", minute],
];

/** Returns when the client was last connected. An older host does not report it. */
function lastSeen({ online, lastSeen }: Client, now: number): string {
  if (online) {
    return t("access.accessSheet.activeNow");
  }
  if (!lastSeen) {
    return t("access.accessSheet.notConnected");
  }
  const passed = Math.max(minute, now - lastSeen);
  const [unit, size] = units.find(([, each]) => passed >= each) ?? ["minute", minute];
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  return t("access.accessSheet.lastSeen", { ago: format.format(-Math.floor(passed / size), unit) });
}
