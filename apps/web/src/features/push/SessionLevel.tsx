import type { Host } from "../../api/contract";
import type { PushLevel } from "../../api/types";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { t } from "../../i18n/push";
import { useHostQuery } from "../shared/host-queries";
import { useAct } from "../shared/use-act";
import { levelOptions } from "./levels";

/** What this browser is notified of in one session. Nothing without an address to notify. */
export function SessionLevel({ host, sessionId }: { host: Host; sessionId: string }) {
  const { data, refetch } = useHostQuery(host, "list_push", {});
  const { busy, error, act } = useAct();
  const settings = data?.settings[0];
  if (!settings || data.subscriptions.length === 0) {
    return null;
  }
  const general = levelOptions().find(({ value }) => value === settings.level)?.label ?? settings.level;
  const options = [{ value: "", label: t("push.level.asMachine", { level: general }) }, ...levelOptions()];
  const own = settings.sessions?.find((each) => each.sessionId === sessionId)?.level ?? "";
  return (
    <section className="mt-5 border-line border-t pt-4">
      <h3 className="mb-2 font-medium text-sm">{t("push.section.title")}</h3>
      <Select
        label={t("push.section.title")}
        className="max-w-full"
        data-testid="session-push"
        disabled={busy !== null}
        value={own}
        options={options}
        onChange={(event) =>
          act("level", async () => {
            const level = event.target.value as PushLevel | "";
            await host.request("set_push", level ? { sessionId, level } : { sessionId });
            await refetch();
          })
        }
      />
      <ErrorText className="mt-2">{error}</ErrorText>
    </section>
  );
}
