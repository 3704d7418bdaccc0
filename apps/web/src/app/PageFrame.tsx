import { Skeleton } from "../components/Skeleton";
import { address } from "../features/route/address";
import { useOpen } from "../features/route/entry";
import { PageHeader } from "../features/shared/PageHeader";
import { useReadable, useScorel } from "../features/shared/scorel-context";
import { t } from "../i18n/app";

/** Shown while the code of a page loads: its title bar, and bars in place of its rows. */
export function PageFrame() {
  const devices = useReadable(useScorel().devices);
  const { deviceId, sessionId } = useOpen();
  const label = devices?.find((each) => each.id === deviceId)?.label;
  const session = sessionId !== undefined;
  return (
    <div data-testid="page-frame" className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={session ? t("app.pageFrame.session") : (label ?? t("app.pageFrame.loading"))}
        subtitle={session ? label : undefined}
        back={session && deviceId ? address.machine(deviceId) : "/"}
      />
      <main className="safe-x mx-auto w-full max-w-3xl flex-1 py-6">
        <Skeleton label={t("app.pageFrame.loading")} rows={7} />
      </main>
    </div>
  );
}
