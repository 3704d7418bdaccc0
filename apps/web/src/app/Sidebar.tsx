import { lazy } from "react";
import { Link, useRoute } from "wouter";
import type { Device } from "../api/contract";
import { Badge, type Tone } from "../components/Badge";
import { IconButton } from "../components/Button";
import { cx } from "../components/cx";
import { InboxIcon, PlusIcon, SettingsIcon } from "../components/shell-icons";
import { useAttention } from "../features/inbox/attention";
import { address, paths } from "../features/route/address";
import { useOpen } from "../features/route/entry";
import { useSettingsSheet } from "../features/settings/settings-context";
import { LinkLight } from "../features/shared/LinkLight";
import { LazyPart } from "../features/shared/MissingPart";
import { chunk } from "../features/shared/missing-chunk";
import { PaletteButton } from "../features/shared/PaletteButton";
import { useReadable, useScorel } from "../features/shared/scorel-context";
import { Wordmark } from "../features/shared/Wordmark";
import { PresenceDot, PresenceWord } from "../features/status/Presence";
import { WaitingBadge } from "../features/status/WaitingBadge";
import { t } from "../i18n/app";

// Loaded only once a machine is chosen, together with the code that reads from it.
const SidebarSessions = lazy(
  chunk(async () => ({
    default: (await import("../features/device/SidebarSessions")).SidebarSessions,
  })),
);

export function Sidebar() {
  const scorel = useScorel();
  const devices = useReadable(scorel.devices) ?? [];
  const openSettings = useSettingsSheet();
  const { deviceId } = useOpen();
  return (
    <nav
      aria-label={t("app.sidebar.machinesAndSessions")}
      className="flex h-full min-h-0 flex-col border-line border-r bg-sunken/60"
    >
      <div className="flex min-h-14 items-center justify-between pr-2 pl-4">
        <Link to="/" className="inline-flex rounded-sm" aria-label={t("app.sidebar.home")}>
          <Wordmark />
        </Link>
        <span className="flex-1" />
        <PaletteButton />
        <Link
          to="/pair"
          aria-label={t("app.sidebar.pairAnotherMachine")}
          title={t("app.sidebar.pairAnotherMachine")}
          className="touchable grid aspect-square place-items-center rounded-md text-muted hover:bg-sunken hover:text-ink"
        >
          <PlusIcon />
        </Link>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        <InboxLink />
        {devices.map((device) => (
          <section key={device.id} className="mb-1">
            <DeviceLink device={device} />
            {device.id === deviceId ? (
              <LazyPart>
                <SidebarSessions deviceId={device.id} />
              </LazyPart>
            ) : null}
          </section>
        ))}
      </div>
      <div className="flex items-center justify-between border-line border-t py-1 pr-2 pl-2">
        <LinkLight />
        <IconButton label={t("app.sidebar.settings")} onClick={openSettings}>
          <SettingsIcon />
        </IconButton>
      </div>
    </nav>
  );
}

const current = "bg-surface shadow-[inset_0_0_0_1px_var(--c-line)]";

function InboxLink() {
  const [here] = useRoute(paths.inbox);
  const { needsYou, unread } = useAttention();
  return (
    <Link
      to="/"
      aria-current={here ? "page" : undefined}
      data-testid="sidebar-inbox"
      className={cx(
        "touchable mb-2 flex items-center gap-2.5 rounded-md px-2.5 font-medium text-sm hover:bg-surface",
        here && current,
      )}
    >
      <InboxIcon className="text-muted" />
      <span className="min-w-0 flex-1 truncate">{t("app.sidebar.inbox")}</span>
      <Count tone="warn" n={needsYou} label={t("app.sidebar.needYou", { n: needsYou })} />
      <Count tone="neutral" n={unread} label={t("app.sidebar.unread", { n: unread })} />
    </Link>
  );
}

/** A number with an accessible label; renders nothing for zero. */
function Count({ tone, n, label }: { tone: Tone; n: number; label: string }) {
  if (n === 0) {
    return null;
  }
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{n}</span>
      <span className="sr-only">{label}</span>
    </Badge>
  );
}

function DeviceLink({ device }: { device: Device }) {
  const asking = useAttention().machines[device.id] ?? 0;
  const [, params] = useRoute(paths.machine);
  const here = params?.deviceId === device.id;
  return (
    <Link
      to={address.machine(device.id)}
      aria-current={here ? "page" : undefined}
      data-testid="sidebar-device"
      className={cx(
        "touchable flex items-center gap-2.5 rounded-md px-2.5 font-medium text-sm hover:bg-surface",
        here && current,
      )}
    >
      <PresenceDot device={device} />
      <span className="min-w-0 flex-1 truncate">{device.label}</span>
      <Count tone="warn" n={asking} label={t("app.sidebar.needYou", { n: asking })} />
      <WaitingBadge deviceId={device.id} />
      <PresenceWord device={device} />
    </Link>
  );
}
