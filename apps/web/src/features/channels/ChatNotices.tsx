import type { Host } from "../../api/contract";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/channels";
import { PushAddress } from "../push/PushAddress";
import { PushLevels } from "../push/PushLevels";
import { QuietHours } from "../push/QuietHours";
import { useHostQuery } from "../shared/host-queries";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";

/** Whether a chat is notified, of what, and when not. A chat is a client with settings of its own. */
export function ChatNotices({ host, clientId }: { host: Host; clientId: string }) {
  const { data, error, refetch } = useHostQuery(host, "list_push", { clientId });
  const { busy, error: failed, done, change: act } = useChange(refetch);
  const [subscription] = data?.subscriptions ?? [];
  const settings = data?.settings[0];
  const failure = failed ?? (error ? withHelp(error) : null);
  return (
    <div data-testid="chat-push" className="mt-1 mb-2 rounded-md border border-line p-3">
      <p className="text-muted">{t("channels.notices.explained")}</p>
      {data || error ? null : <Skeleton label={t("channels.notices.loading")} rows={2} className="mt-2" />}
      {data && !subscription ? (
        <Button
          data-testid="chat-push-on"
          className="mt-2"
          busy={busy === "on"}
          disabled={busy !== null}
          onClick={() =>
            act("on", async () => {
              await host.request("add_push", { kind: "chat", url: clientId });
              return t("channels.notices.on");
            })
          }
        >
          {t("channels.notices.turnOn")}
        </Button>
      ) : null}
      {subscription && settings ? (
        <>
          <ul>
            <PushAddress
              subscription={subscription}
              busy={busy}
              onTest={() =>
                act(`test ${subscription.id}`, async () => {
                  const { lastError } = (await host.request("test_push", { id: subscription.id })).subscription;
                  if (lastError) {
                    throw new Error(t("channels.notices.testFailed", { reason: lastError }));
                  }
                  return t("channels.notices.tested");
                })
              }
              onRemove={() =>
                act(`remove ${subscription.id}`, async () => {
                  await host.request("remove_push", { id: subscription.id });
                  return t("channels.notices.off");
                })
              }
            />
          </ul>
          <PushLevels {...{ host, clientId, settings, act }} busy={busy} />
          <QuietHours {...{ host, clientId, act }} quiet={settings.quiet ?? null} busy={busy} />
        </>
      ) : null}
      <p role="status" className="mt-2 text-accent empty:mt-0">
        {done}
      </p>
      <ErrorText>{failure}</ErrorText>
    </div>
  );
}
