import { useCallback, useState } from "react";
import { IconButton } from "../../components/Button";
import { BranchIcon } from "../../components/icons";
import { useHostData } from "../device/host-data";
import { UnknownDevice } from "../device/UnknownDevice";
import { useClientNames, useHost, useHostFreshness } from "../shared/host-queries";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useToldSession } from "../shared/sessions";
import { useTitle } from "../shared/use-title";
import { may } from "./grants";
import { LogContext, type LogReader, NamesContext } from "./live-context";
import { ParentLink } from "./ParentLink";
import { SessionBody } from "./SessionBody";
import { SessionMenu } from "./SessionMenu";
import { Loading } from "./SessionStates";
import { useSession } from "./use-session";

export interface ChatSessionProps {
  deviceId: string;
  sessionId: string;
  /** The entry to show; undefined is the end. */
  entryId: string | undefined;
}

/** One session: its transcript and what can be done with it. */
export function ChatSession({ deviceId, sessionId, entryId }: ChatSessionProps) {
  const scorel = useScorel();
  const host = useHost(deviceId);
  useHostFreshness(host);
  const data = useHostData(host);
  const nameOf = useClientNames(host);
  const open = useSession(host, sessionId);
  const devices = useReadable(scorel.devices);
  const [tree, setTree] = useState(false);
  const device = devices?.find((each) => each.id === deviceId);
  const label = device?.label ?? data.info?.label ?? "the machine";
  // What is told to all is heard at once; the view of one session may hear of it at its next look.
  const told = useToldSession(deviceId, sessionId);
  const summary = told ?? open?.state.summary ?? null;
  useTitle(summary?.name);
  const project = data.projects?.find((each) => each.id === summary?.projectId);
  const readLog = useCallback<LogReader>(
    (processLogRef, from) => host.request("get_process_log", { processLogRef, from }),
    [host],
  );
  if (devices && !device) return <UnknownDevice />;
  return (
    <NamesContext value={nameOf}>
      <LogContext value={readLog}>
        <div className="flex h-full min-h-0 flex-col">
          <PageHeader
            title={summary ? summary.name || "New session" : "Session"}
            subtitle={
              <>
                {summary?.parentSessionId ? (
                  <ParentLink host={host} projectId={summary.projectId} sessionId={summary.parentSessionId} />
                ) : null}
                {[project?.name, label].filter(Boolean).join(" · ")}
              </>
            }
            back={
              summary?.parentSessionId
                ? { to: "/d/$deviceId/s/$sessionId", params: { deviceId, sessionId: summary.parentSessionId } }
                : { to: "/d/$deviceId", params: { deviceId } }
            }
            actions={
              summary ? (
                <>
                  <IconButton label="Branches of the session" data-testid="open-tree" onClick={() => setTree(true)}>
                    <BranchIcon />
                  </IconButton>
                  <SessionMenu host={host} session={summary} view={open?.view} mayDelete={may(data.info, "manage")} />
                </>
              ) : null
            }
          />
          <main className="flex min-h-0 flex-1 flex-col">
            {open ? (
              <SessionBody
                open={open}
                host={host}
                label={label}
                data={data}
                tree={tree}
                onTree={setTree}
                entryId={entryId}
              />
            ) : (
              <Loading />
            )}
          </main>
        </div>
      </LogContext>
    </NamesContext>
  );
}
