import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import type { PushQuiet } from "../../api/types";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/push";
import type { PushAct } from "./push-act";

export interface QuietHoursProps {
  host: Host;
  /** The client that is not notified then; absent for this browser. */
  clientId?: string;
  quiet: PushQuiet | null;
  busy: string | null;
  act: PushAct;
}

/** The hours in which this browser, or another client, is not notified. They apply in the time zone where they were set. */
export function QuietHours({ host, clientId, quiet, busy, act }: QuietHoursProps) {
  const [from, setFrom] = useState(quiet?.from ?? "22:00");
  const [to, setTo] = useState(quiet?.to ?? "07:00");
  const whose = clientId ? { clientId } : {};
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const save = (event: FormEvent) => {
    event.preventDefault();
    void act("quiet", async () => {
      await host.request("set_push", { ...whose, quiet: { from, to, zone } });
      return t("push.quiet.saved");
    });
  };
  const remove = () =>
    act("loud", async () => {
      await host.request("set_push", { ...whose, quiet: {} });
      return t("push.quiet.removed");
    });
  return (
    <form onSubmit={save} noValidate className="mt-4">
      <fieldset>
        <legend className="font-medium text-sm">{t("push.quiet.title")}</legend>
        <p data-testid="push-quiet" className="mt-0.5 text-muted text-sm">
          {quiet
            ? t("push.quiet.set", { from: quiet.from ?? "", to: quiet.to ?? "", zone: quiet.zone ?? "" })
            : t("push.quiet.explained")}
        </p>
        <div className="mt-2 flex flex-wrap items-end gap-2">
          <TextField
            type="time"
            required
            label={t("push.quiet.from")}
            data-testid="quiet-from"
            value={from}
            onChange={(event) => setFrom(event.target.value)}
          />
          <TextField
            type="time"
            required
            label={t("push.quiet.to")}
            data-testid="quiet-to"
            value={to}
            onChange={(event) => setTo(event.target.value)}
          />
          <div className="flex gap-2 max-sm:w-full">
            <Button
              type="submit"
              data-testid="quiet-save"
              busy={busy === "quiet"}
              disabled={busy !== null || !from || !to}
            >
              {t("push.quiet.save")}
            </Button>
            {quiet ? (
              <Button
                data-testid="quiet-remove"
                tone="quiet"
                busy={busy === "loud"}
                disabled={busy !== null}
                onClick={remove}
              >
                {t("push.quiet.remove")}
              </Button>
            ) : null}
          </div>
        </div>
      </fieldset>
    </form>
  );
}
