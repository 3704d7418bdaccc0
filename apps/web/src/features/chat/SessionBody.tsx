import { lazy, useCallback, useMemo, useState } from "react";
import type { Host } from "../../api/contract";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/chat";
import { may } from "../shared/grants";
import type { HostData } from "../shared/host-data";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { useMovedTo } from "../shared/moved";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useToldSession } from "../shared/sessions";
import { BudgetNotice } from "./BudgetNotice";
import { type FilePlace, FilesContext } from "./context/files-context";
import type { Insert } from "./context/history-context";
import type { OpenSession } from "./context/use-session";
import { SessionComposer } from "./SessionComposer";
import { SessionFacts } from "./SessionFacts";
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
  const shut = state.status === "revoked" || state.status === "expired";
  const mayPrompt = may(data.info, "prompt");
  const model = data.info?.models.find((each) => each.name === summary?.model);
  const closeChanges = () => {
    setFile(null);
    onChanges(false);
  };
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
        {summary && state.status !== "revoked" ? (
          <SessionFacts host={host} info={data.info} session={summary} state={state} />
        ) : null}
      </SessionStrip>
      <SessionComposer {...{ open, host, data, summary, label, draftKey, insert }} onInsert={setInsert} />
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
