import { lazy, useContext } from "react";
import { useRoute } from "wouter";
import { OverlayKeys } from "../features/keys/OverlayKeys";
import { paths } from "../features/route/address";
import { useKeptPath } from "../features/shared/kept";
import { LinkBanner } from "../features/shared/LinkLight";
import { LazyPart } from "../features/shared/MissingPart";
import { chunk } from "../features/shared/missing-chunk";
import { useReadable, useScorel } from "../features/shared/scorel-context";
import { useWide } from "../features/shared/use-media";
import { ShellContext } from "../features/update/shell-context";
import { Pages } from "./Pages";

const Unsupported = lazy(chunk(async () => ({ default: (await import("./Unsupported")).Unsupported })));
// Not loaded on a phone.
const Sidebar = lazy(chunk(async () => ({ default: (await import("./Sidebar")).Sidebar })));
const GlobalKeys = lazy(chunk(() => import("../features/keys/GlobalKeys")));
const InboxWatch = lazy(chunk(() => import("../features/inbox/InboxWatch")));
const UpdateNotice = lazy(
  chunk(async () => ({ default: (await import("../features/update/UpdateNotice")).UpdateNotice })),
);

/** The frame around every page: the sidebar on wide screens, nothing on a phone. */
export function Shell() {
  const scorel = useScorel();
  const link = useReadable(scorel.link);
  const devices = useReadable(scorel.devices);
  const wide = useWide();
  useKeptPath();
  const shell = useContext(ShellContext);
  const pairing = useRoute(paths.pair)[0];
  if (link.state === "unsupported") {
    return (
      <LazyPart>
        <Unsupported reason={link.reason} advice={link.advice} />
      </LazyPart>
    );
  }

  const first = devices === null || devices.length === 0;
  const sidebar = wide && !first;
  return (
    <div
      className={
        sidebar ? "grid h-full grid-cols-[17.5rem_minmax(0,1fr)] lg:grid-cols-[20rem_minmax(0,1fr)]" : "h-full"
      }
    >
      <OverlayKeys />
      <LazyPart>
        <GlobalKeys />
      </LazyPart>
      {sidebar ? (
        <div className="min-h-0">
          <LazyPart>
            <Sidebar />
          </LazyPart>
        </div>
      ) : null}
      {first ? null : (
        <LazyPart>
          <InboxWatch />
        </LazyPart>
      )}
      <div className="flex h-full min-h-0 min-w-0 flex-col">
        {pairing && first ? null : <LinkBanner />}
        {shell ? (
          <LazyPart>
            <UpdateNotice shell={shell} />
          </LazyPart>
        ) : null}
        <div className="min-h-0 flex-1">
          <Pages />
        </div>
      </div>
    </div>
  );
}
