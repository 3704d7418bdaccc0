import { lazy, useCallback, useMemo, useState } from "react";
import type { Host } from "../../api/contract";
import { MAX_FILE_BYTES } from "../../api/types";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/chat";
import { ExpiredNotice, RevokedNotice } from "../device/HostNotice";
import { ContextMeter } from "../session/ContextMeter";
import { SessionCost } from "../session/SessionSpent";
import { may } from "../shared/grants";
import type { HostData } from "../shared/host-data";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { useMovedTo } from "../shared/moved";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useToldSession } from "../shared/sessions";
import { withHelp } from "../shared/with-help";
import { BudgetNotice } from "./BudgetNotice";
import { Composer } from "./composer/Composer";
import { compactFocus } from "./composer/commands";
import { type FilePlace, FilesContext } from "./context/files-context";
import type { Insert } from "./context/history-context";
import type { OpenSession } from "./context/use-session";
import type { Attached } from "./images/use-attachments";
import { KeptDraft } from "./KeptDraft";
import { BackendOptions } from "./mode/BackendOptions";
import { SessionBackend } from "./mode/SessionBackend";
import { SessionMode } from "./mode/SessionMode";
import { Beginning, Elsewhere, LoadingSession, Missing } from "./SessionStates";
import { SessionStrip } from "./SessionStrip";
import { PinnedTasks } from "./tools/PinnedTasks";
import { Transcript } from "./transcript/Transcript";
import { SessionHistory } from "./tree/SessionHistory";

const ChangesSheet = lazy(chunk(() => import("../changes/ChangesSheet")));
const ServersWait = lazy(chunk(() => import("../project/ServersWait")));
const MovedSession = lazy(chunk(() => import("./MovedSession")));

export interface SessionBodyProps {
  open: OpenSession;
  host: Host;
  label: string;
  data: HostData;
  /** Whether the sheet with the branches is open. */
  tree: boolean;
  onTree: (open: boolean) => void;
  /** Whether the sheet with the changes is open. */
  changes: boolean;
  onChanges: (open: boolean) => void;
  entryId: string | undefined;
}

/** A session below its header: the transcript, its settings and the composer. */
export function SessionBody({ open, host, label, data, tree, onTree, changes, onChanges, entryId }: SessionBodyProps) {
  const { state, view } = open;
  const { deviceId } = host;
  const [insert, setInsert] = useState<Insert | null>(null);
  const [file, setFile] = useState<FilePlace | null>(null);
  const me = useReadable(useScorel().me);
  const toast = useToast();
  const summary = useToldSession(deviceId, view.sessionId) ?? state.summary;
  const project = data.projects?.find((each) => each.id === summary?.projectId);
  const folder = summary?.worktree?.folder ?? project?.path ?? "";
  const append = useCallback(
    (text: string) => {
      setInsert({ text, append: true });
      toast(t("chat.sessionBody.addedToMessage"));
    },
    [toast],
  );
  const readable = may(data.info, "files");
  const files = useMemo(() => {
    const openFile = (place: FilePlace) => {
      setFile(place);
      onChanges(true);
    };
    return readable ? { folder, open: openFile } : null;
  }, [folder, readable, onChanges]);
  const draftKey = `${deviceId}/${view.sessionId}`;
  const moved = useMovedTo(deviceId, view.sessionId);
  if (moved) {
    return (
      <LazyPart>
        <MovedSession to={moved} draftKey={draftKey} state={state} view={view} />
      </LazyPart>
    );
  }
  if (state.status === "missing") {
    return <Missing deviceId={deviceId} label={label} draftKey={draftKey} />;
  }
  const revoked = state.status === "revoked";
  const shut = revoked || state.status === "expired";
  const mayPrompt = may(data.info, "prompt");
  const model = data.info?.models.find((each) => each.name === summary?.model);
  const say = (text: string, steer?: boolean, images: Attached[] = []) => {
    if (images.length > 0) {
      return view.send(text, steer, images);
    }
    const instructions = compactFocus(text);
    if (instructions === null) {
      return view.send(text, steer);
    }
    host
      .request("compact_session", { sessionId: view.sessionId, clientKey: crypto.randomUUID(), instructions })
      .catch((cause: unknown) => {
        toast(withHelp(cause));
        setInsert({ text });
      });
  };
  const closeChanges = () => {
    setFile(null);
    onChanges(false);
  };
  const cancel = () => view.cancel().catch((cause: unknown) => toast(withHelp(cause)));
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
          allowed={mayPrompt && !shut}
          onInsert={setInsert}
        >
          <FilesContext value={files}>
            <Transcript
              state={state}
              view={view}
              me={me?.id}
              entryId={entryId}
              model={model ? { id: model.id, demo: model.demo ?? false } : null}
              canAnswer={state.status === "live" && may(data.info, "approve")}
              canReply={state.status === "live" && mayPrompt}
              canKeepRules={may(data.info, "manage")}
              empty={emptyOf(state.status, label)}
            />
          </FilesContext>
        </SessionHistory>
      )}
      <LazyPart>
        {data.info && summary && state.status === "live" ? (
          <ServersWait host={host} info={data.info} projectId={summary.projectId} />
        ) : null}
      </LazyPart>
      <BudgetNotice host={host} info={data.info} state={state} view={view} />
      <PinnedTasks entries={state.entries} working={state.live.turn !== null} />
      <LazyPart onClose={closeChanges}>
        {changes ? (
          <ChangesSheet
            host={host}
            sessionId={view.sessionId}
            step={lastResult(state.entries)}
            mayWrite={may(data.info, "approve")}
            onPrompt={mayPrompt && !shut ? append : null}
            file={file}
            onClose={closeChanges}
          />
        ) : null}
      </LazyPart>
      <SessionStrip
        status={state.status}
        label={label}
        savedAt={state.savedAt}
        damaged={summary?.damaged}
        work={state.live.work}
      >
        {summary && !revoked ? (
          <>
            <ContextMeter
              host={host}
              sessionId={view.sessionId}
              entries={state.entries}
              contextWindow={model?.contextWindow}
            />
            <SessionCost session={summary} />
            {summary.backend && mayPrompt ? (
              <BackendOptions host={host} deviceId={deviceId} session={summary} entries={state.entries} />
            ) : null}
            <SessionMode host={host} info={data.info} session={summary} live={state.status === "live"} />
          </>
        ) : null}
      </SessionStrip>
      {shut ? (
        <div className="safe-x safe-b mx-auto w-full max-w-3xl space-y-2">
          <KeptDraft draftKey={draftKey} />
          {revoked ? <RevokedNotice label={label} /> : <ExpiredNotice label={label} />}
        </div>
      ) : (
        <Composer
          draftKey={draftKey}
          noImages={model && !model.images ? t("chat.sessionBody.theModelDoesNotAccept", { name: model.name }) : null}
          maxFile={data.info ? (data.info.maxFile ?? 0) : MAX_FILE_BYTES}
          onSend={say}
          suggest={{
            slash: {
              host,
              projectId: summary?.projectId ?? "",
              backendOf: summary?.backend ? view.sessionId : undefined,
            },
            files: {
              host,
              place: { sessionId: view.sessionId },
              projectId: summary?.projectId ?? "",
              allowed: may(data.info, "files"),
            },
          }}
          insert={insert}
          onCancel={state.live.turn && mayPrompt ? cancel : null}
          cancelling={state.live.turn?.cancelling ?? false}
          turn={state.live.turn?.turnId}
          blocked={
            summary?.damaged
              ? t("chat.sessionBody.thisSessionCanBeRead")
              : mayPrompt
                ? null
                : t("chat.sessionBody.viewOnlyInThisBrowser")
          }
        >
          {data.info && summary && mayPrompt ? (
            <SessionBackend info={data.info} session={summary} deviceId={deviceId} />
          ) : null}
        </Composer>
      )}
    </>
  );
}

/** Returns the id of the last result of a tool, each of which may have changed files; "" if there is none. */
function lastResult(entries: OpenSession["state"]["entries"]): string {
  return entries.findLast((entry) => entry.type === "message" && entry.message.role === "toolResult")?.id ?? "";
}

/** Returns what an empty transcript shows. */
function emptyOf(status: OpenSession["state"]["status"], label: string) {
  switch (status) {
    case "live":
      return <Beginning />;
    case "revoked":
      return null; // a notice says it
    default:
      return <Elsewhere label={label} />;
  }
}
