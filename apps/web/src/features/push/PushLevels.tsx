import type { Host } from "../../api/contract";
import type { PushLevel, PushSettings } from "../../api/types";
import { Button } from "../../components/Button";
import { Select } from "../../components/Select";
import { t } from "../../i18n/push";
import { levelOptions } from "./levels";
import type { PushAct } from "./push-act";

export interface PushLevelsProps {
  host: Host;
  /** The client that is notified; absent for this browser. */
  clientId?: string;
  settings: PushSettings;
  busy: string | null;
  act: PushAct;
}

/** What this browser, or another client, is notified of, and the number of sessions that differ. */
export function PushLevels({ host, clientId, settings, busy, act }: PushLevelsProps) {
  const whose = clientId ? { clientId } : {};
  const own = settings.sessions ?? [];
  return (
    <div className="mt-3">
      <p className="mb-1.5 text-sm">{t("push.level.label")}</p>
      <Select
        label={t("push.level.label")}
        className="max-w-full"
        data-testid="push-level"
        disabled={busy !== null}
        value={settings.level}
        options={levelOptions()}
        onChange={(event) =>
          act("level", async () => {
            await host.request("set_push", { ...whose, level: event.target.value as PushLevel });
            return t("push.level.saved");
          })
        }
      />
      {own.length > 0 ? (
        <p className="mt-2 flex flex-wrap items-center gap-2 text-muted text-sm">
          {t("push.level.sessions", { count: own.length })}
          <Button
            tone="quiet"
            busy={busy === "sessions"}
            disabled={busy !== null}
            onClick={() =>
              act("sessions", async () => {
                for (const { sessionId } of own) {
                  await host.request("set_push", { ...whose, sessionId });
                }
                return t("push.level.saved");
              })
            }
          >
            {t("push.level.reset")}
          </Button>
        </p>
      ) : null}
    </div>
  );
}
