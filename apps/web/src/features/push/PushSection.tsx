import { useEffect, useState } from "react";
import type { Host } from "../../api/contract";
import { type NoSupport, noSupport, subscribe, subscriptionTo, unsubscribe } from "../../api/notices";
import { ApiKind, type HostPush } from "../../api/types";
import { Button } from "../../components/Button";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/push";
import { isRefusal, sentence } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { PushAddress } from "./PushAddress";
import { PushLevels } from "./PushLevels";
import type { PushAct } from "./push-act";
import { QuietHours } from "./QuietHours";
import { keepNoticeWords } from "./words";

/** Where this browser is notified of one machine, of what, and when not. */
export default function PushSection({ host, machine }: { host: Host; machine: string }) {
  const { data, error, refetch } = useHostQuery(host, "list_push", {});
  const { busy, error: failed, done, change: act } = useChange(refetch);
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const settings = data?.settings[0];
  const test = (id: string) =>
    act(`test ${id}`, async () => {
      const { subscription } = await host.request("test_push", { id });
      if (subscription.lastError) {
        throw new Error(t("push.section.testFailed", { reason: subscription.lastError }));
      }
      return t("push.section.tested");
    });
  return (
    <Section title={t("push.section.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("push.section.explained", { machine })}</p>
      {data || error ? null : <Skeleton label={t("push.section.loading")} rows={2} className="mt-2" />}
      {data ? <ThisBrowser host={host} push={data} busy={busy} act={act} /> : null}
      <ul className="mt-2 divide-y divide-line">
        {data?.subscriptions.map((each) => (
          <PushAddress
            key={each.id}
            subscription={each}
            busy={busy}
            onTest={() => test(each.id)}
            onRemove={() =>
              act(`remove ${each.id}`, async () => {
                await host.request("remove_push", { id: each.id });
                if (each.kind === "web") {
                  await unsubscribe(host.deviceId);
                }
                return t("push.section.removed");
              })
            }
          />
        ))}
      </ul>
      {settings ? (
        <>
          <PushLevels host={host} settings={settings} busy={busy} act={act} />
          <QuietHours host={host} quiet={settings.quiet ?? null} busy={busy} act={act} />
        </>
      ) : null}
    </Section>
  );
}

interface ThisBrowserProps {
  host: Host;
  push: HostPush;
  busy: string | null;
  act: PushAct;
}

/** Turns the notifications of this browser on. */
function ThisBrowser({ host, push, busy, act }: ThisBrowserProps) {
  const label = useReadable(useScorel().me)?.label ?? "";
  const [missing, setMissing] = useState(noSupport);
  const known = push.subscriptions.some(({ kind }) => kind === "web");
  const subscribed = useSubscribed(host.deviceId, push);
  if (missing) {
    return (
      <p data-testid="push-unsupported" className="mt-2 text-sm text-warn">
        {supportText(missing)}
      </p>
    );
  }
  if (known && subscribed !== false) {
    return null; // it is in the list
  }
  const turnOn = () =>
    act("on", async () => {
      const answer = await Notification.requestPermission();
      setMissing(noSupport());
      if (answer !== "granted") {
        throw new Error(t("push.section.notAllowed"));
      }
      await keepNoticeWords();
      const address = await subscribe(host.deviceId, push.key).catch((cause) => {
        throw new Error(t("push.section.noService", { reason: sentence(cause) }));
      });
      for (const { id, kind } of push.subscriptions) {
        if (kind === "web") {
          await host.request("remove_push", { id }); // this browser has ended it
        }
      }
      await host.request("add_push", { kind: "web", ...address, label });
      return t("push.section.on");
    });
  return (
    <Button data-testid="push-on" className="mt-3" busy={busy === "on"} disabled={busy !== null} onClick={turnOn}>
      {t("push.section.turnOn")}
    </Button>
  );
}

/** Says why this browser cannot show notifications, and what to do. */
function supportText(missing: NoSupport): string {
  switch (missing) {
    case "insecure":
      return t("push.support.insecure");
    case "install":
      return t("push.support.install");
    case "denied":
      return t("push.support.denied");
    case "unsupported":
      return t("push.support.unsupported");
  }
}

/** Whether this browser has a subscription to the host; null until known. */
function useSubscribed(deviceId: string, push: HostPush): boolean | null {
  const [subscribed, setSubscribed] = useState<boolean | null>(null);
  useEffect(() => {
    let current = push !== null;
    subscriptionTo(deviceId).then(
      (found) => current && setSubscribed(found !== null),
      () => current && setSubscribed(false),
    );
    return () => {
      current = false;
    };
  }, [deviceId, push]);
  return subscribed;
}
