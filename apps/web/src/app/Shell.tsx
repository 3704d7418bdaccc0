import { Outlet, useMatchRoute } from "@tanstack/react-router";
import { LinkBanner } from "../features/shared/LinkLight";
import { useReadable, useScorel } from "../features/shared/scorel-context";
import { useWide } from "../features/shared/use-media";
import { Sidebar } from "./Sidebar";
import { Unsupported } from "./Unsupported";

/** What stands around every page: on a desk the sidebar, on a phone nothing. */
export function Shell() {
  const scorel = useScorel();
  const link = useReadable(scorel.link);
  const devices = useReadable(scorel.devices);
  const wide = useWide();
  const pairing = useMatchRoute()({ to: "/pair" }) !== false;
  if (link.state === "unsupported") return <Unsupported reason={link.reason} advice={link.advice} />;

  const first = devices === null || devices.length === 0;
  const sidebar = wide && !first;
  return (
    <div
      className={
        sidebar ? "grid h-full grid-cols-[17.5rem_minmax(0,1fr)] lg:grid-cols-[20rem_minmax(0,1fr)]" : "h-full"
      }
    >
      {sidebar ? <Sidebar /> : null}
      <div className="flex h-full min-h-0 min-w-0 flex-col">
        {pairing && first ? null : <LinkBanner />}
        <div className="min-h-0 flex-1">
          <Outlet />
        </div>
      </div>
    </div>
  );
}
