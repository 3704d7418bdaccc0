import { Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { Host, SessionState, SessionView } from "../../api/contract";
import type { Grant, HostInfo } from "../../api/types";
import { IconButton } from "../../components/Button";
import { BranchIcon, MachineIcon, SearchIcon, TerminalIcon, WarningIcon } from "../../components/icons";
import { EmptyState, Notice } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { useToast } from "../../components/Toast";
import { RevokedNotice } from "../device/HostNotice";
import { useHostData } from "../device/host-data";
import { UnknownDevice } from "../device/UnknownDevice";
import { ServersWait } from "../project/ServersWait";
import { sentence } from "../shared/errors";
import { useClientNames, useHost, useHostFreshness } from "../shared/host-queries";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useToldSession } from "../shared/sessions";
import { useTitle } from "../shared/use-title";
import { Composer } from "./Composer";
import { compactFocus } from "./commands";
import { LogContext, type LogReader, NamesContext } from "./live-context";
import { OutgoingRows } from "./OutgoingRows";
import { ParentLink } from "./ParentLink";
import { SessionHistory } from "./SessionHistory";
import { SessionMenu } from "./SessionMenu";
import { SessionMode } from "./SessionMode";
import { SessionModel } from "./SessionModel";
import { SessionCost } from "./SessionSpent";
import { SessionStrip } from "./SessionStrip";
import { Transcript } from "./Transcript";
import { type OpenSession, useSession } from "./use-session";

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

/** What the machine lets this browser do. Until it has told, the machine is the one to refuse. */
function may(info: HostInfo | null, grant: Grant): boolean {
  return info === null || info.grants.includes(grant);
}

function Loading() {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 py-6">
      <Skeleton label="Reading the session" rows={7} />
    </div>
  );
}

interface BodyProps {
  open: OpenSession;
  host: Host;
  label: string;
  data: ReturnType<typeof useHostData>;
  /** The sheet with the branches is open. */
  tree: boolean;
  onTree: (open: boolean) => void;
  entryId: string | undefined;
}

function SessionBody({ open, host, label, data, tree, onTree, entryId }: BodyProps) {
  const { state, view } = open;
  const { deviceId } = host;
  const [insert, setInsert] = useState<{ text: string } | null>(null);
  const me = useReadable(useScorel().me);
  const toast = useToast();
  const summary = useToldSession(deviceId, view.sessionId) ?? state.summary;
  if (state.status === "missing") return <Missing deviceId={deviceId} label={label} />;
  const revoked = state.status === "revoked";
  const model = data.info?.models.find((each) => each.name === summary?.model);
  const say = (text: string, steer?: boolean) => {
    const instructions = compactFocus(text);
    if (instructions === null) return view.send(text, steer);
    host
      .request("compact_session", { sessionId: view.sessionId, clientKey: crypto.randomUUID(), instructions })
      .catch((cause: unknown) => {
        toast(sentence(cause));
        setInsert({ text });
      });
  };
  const cancel = () => view.cancel().catch((cause: unknown) => toast(sentence(cause)));
  return (
    <>
      {state.status === "loading" ? (
        <LoadingSession state={state} view={view} />
      ) : (
        <SessionHistory
          host={host}
          open={open}
          tree={tree}
          onTree={onTree}
          allowed={may(data.info, "prompt")}
          onInsert={setInsert}
        >
          <Transcript
            state={state}
            view={view}
            me={me?.id}
            entryId={entryId}
            model={model ? { id: model.id, demo: model.demo ?? false } : null}
            canAnswer={state.status === "live" && may(data.info, "approve")}
            canReply={state.status === "live" && may(data.info, "prompt")}
            canKeepRules={may(data.info, "manage")}
            empty={state.status === "live" ? <Beginning /> : <Elsewhere label={label} />}
          />
        </SessionHistory>
      )}
      {data.info && summary && state.status === "live" ? (
        <ServersWait host={host} info={data.info} projectId={summary.projectId} />
      ) : null}
      <SessionStrip status={state.status} label={label} damaged={summary?.damaged} work={state.live.work}>
        {summary && !revoked ? (
          <>
            <SessionCost session={summary} />
            <SessionMode host={host} info={data.info} session={summary} live={state.status === "live"} />
          </>
        ) : null}
      </SessionStrip>
      {revoked ? (
        <div className="safe-x safe-b mx-auto w-full max-w-3xl">
          <RevokedNotice label={label} />
        </div>
      ) : (
        <Composer
          draftKey={`${deviceId}/${view.sessionId}`}
          onSend={say}
          insert={insert}
          onCancel={state.live.turn ? cancel : null}
          cancelling={state.live.turn?.cancelling ?? false}
          blocked={summary?.damaged ? "This session can be read, not continued" : null}
        >
          {data.info && summary ? <SessionModel info={data.info} session={summary} deviceId={deviceId} /> : null}
        </Composer>
      )}
    </>
  );
}

/** The log is on its way; what was written here meanwhile is in sight already. */
function LoadingSession({ state, view }: { state: SessionState; view: SessionView }) {
  return (
    <div className="safe-x mx-auto w-full max-w-3xl flex-1 overflow-y-auto py-6">
      {state.lastError ? (
        <Notice tone="danger" icon={<WarningIcon />} title="The session could not be read; trying again">
          {state.lastError}
        </Notice>
      ) : null}
      <Skeleton label="Reading the session" rows={7} />
      <OutgoingRows prompts={state.outgoing} queue={[]} running={false} view={view} />
    </div>
  );
}

function Elsewhere({ label }: { label: string }) {
  return (
    <EmptyState icon={<MachineIcon />} title="The transcript is on the machine">
      It shows here as soon as {label} can be reached.
    </EmptyState>
  );
}

function Beginning() {
  return (
    <EmptyState icon={<TerminalIcon />} title="What shall the agent do?">
      It works in the project's folder on the machine. What it does there without asking is the mode, below.
    </EmptyState>
  );
}

function Missing({ deviceId, label }: { deviceId: string; label: string }) {
  return (
    <EmptyState
      icon={<SearchIcon />}
      title="This session is not there"
      actions={
        <Link
          to="/d/$deviceId"
          params={{ deviceId }}
          className="touchable inline-flex items-center font-medium text-accent underline underline-offset-2"
        >
          See the sessions on {label}
        </Link>
      }
    >
      {label} knows no session of this address. It may have been removed there.
    </EmptyState>
  );
}
