import { Link, useParams } from "@tanstack/react-router";
import type { Device } from "../api/contract";
import { Dot } from "../components/Badge";
import { IconButton } from "../components/Button";
import { PlusIcon, SettingsIcon } from "../components/icons";
import { SidebarSessions } from "../features/device/SidebarSessions";
import { useSettingsSheet } from "../features/settings/settings-context";
import { LinkLight } from "../features/shared/LinkLight";
import { useReadable, useScorel } from "../features/shared/scorel-context";
import { Wordmark } from "../features/shared/Wordmark";

export function Sidebar() {
  const scorel = useScorel();
  const devices = useReadable(scorel.devices) ?? [];
  const openSettings = useSettingsSheet();
  const { deviceId } = useParams({ strict: false });
  return (
    <nav aria-label="Devices and sessions" className="flex h-full min-h-0 flex-col border-line border-r bg-sunken/60">
      <div className="flex min-h-14 items-center justify-between pr-2 pl-4">
        <Link to="/" className="inline-flex rounded-sm" aria-label="scorel, your devices">
          <Wordmark />
        </Link>
        <Link
          to="/pair"
          aria-label="Pair another machine"
          title="Pair another machine"
          className="touchable grid aspect-square place-items-center rounded-md text-muted hover:bg-sunken hover:text-ink"
        >
          <PlusIcon />
        </Link>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {devices.map((device) => (
          <section key={device.id} className="mb-1">
            <DeviceLink device={device} />
            {device.id === deviceId ? <SidebarSessions deviceId={device.id} /> : null}
          </section>
        ))}
      </div>
      <div className="flex items-center justify-between border-line border-t py-1 pr-2 pl-2">
        <LinkLight />
        <IconButton label="Settings" onClick={openSettings}>
          <SettingsIcon />
        </IconButton>
      </div>
    </nav>
  );
}

function DeviceLink({ device }: { device: Device }) {
  const unusable = device.revoked ? "removed" : device.problem ? "not usable" : null;
  return (
    <Link
      to="/d/$deviceId"
      params={{ deviceId: device.id }}
      activeOptions={{ exact: true }}
      activeProps={{ className: "bg-surface shadow-[inset_0_0_0_1px_var(--c-line)]" }}
      className={"touchable flex items-center gap-2.5 rounded-md px-2.5 font-medium text-sm hover:bg-surface"}
    >
      <Dot tone={unusable ? "danger" : device.online ? "accent" : "neutral"} />
      <span className="min-w-0 flex-1 truncate">{device.label}</span>
      {unusable || !device.online ? <span className="caption text-faint">{unusable ?? "offline"}</span> : null}
    </Link>
  );
}
