import { lazy, useCallback, useEffect, useMemo, useState } from "react";
import { fetchImage } from "../../api/images";
import { IconButton } from "../../components/Button";
import { BranchIcon, FilesIcon, SearchIcon } from "../../components/icons";
import { t } from "../../i18n/chat";
import { Pinned } from "../device/SessionRow";
import { UnknownDevice } from "../device/UnknownDevice";
import { address } from "../route/address";
import { SessionMenu } from "../session/SessionMenu";
import { may } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useClientNames, useHost, useHostFreshness } from "../shared/host-queries";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useToldSession } from "../shared/sessions";
import { useWide } from "../shared/use-media";
import { useTitle } from "../shared/use-title";
import { LogContext, type LogReader, NamesContext } from "./context/live-context";
import { useSession } from "./context/use-session";
import { cachingLoader, ImagesContext } from "./images/images-context";
import { ParentLink } from "./ParentLink";
import { SessionBody } from "./SessionBody";
import { Loading } from "./SessionStates";
import { useSessionCommands } from "./use-session-commands";

export interface ChatSessionProps {
  deviceId: string;
  sessionId: string;
  /** The entry to show; undefined for the end. */
  entryId: string | undefined;
  /** The text to find in the session; undefined for none. */
  finding: string | undefined;
}

const FindBar = lazy(chunk(() => import("../search/FindBar")));

/** Finding text in the session, started by a search of all sessions or by a key. */
function useFinding(begun: string | undefined) {
  const [find, setFind] = useState(begun);
  useEffect(() => {
    if (begun !== undefined) {
      setFind(begun);
    }
  }, [begun]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target } = event;
      const free = target instanceof Element && !target.closest("input,textarea,select,[contenteditable],dialog");
      if (event.key === "/" && free && !event.defaultPrevented && !document.querySelector("dialog[open]")) {
        event.preventDefault();
        setFind((before) => before ?? "");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return [find, setFind] as const;
}

/** One session: its transcript and its actions. */
export function ChatSession({ deviceId, sessionId, entryId, finding }: ChatSessionProps) {
  const scorel = useScorel();
  const host = useHost(deviceId);
  useHostFreshness(host);
  const data = useHostData(host);
  const nameOf = useClientNames(host);
  const open = useSession(host, sessionId);
  const devices = useReadable(scorel.devices);
  const [tree, setTree] = useState(false);
  const [find, setFind] = useFinding(finding);
  const [changes, setChanges] = useState(false);
  useSessionCommands({
    ...{ open, info: data.info },
    onFind: () => setFind((before) => before ?? ""),
    onTree: () => setTree(true),
    onChanges: () => setChanges(true),
  });
  const wide = useWide();
  const device = devices?.find((each) => each.id === deviceId);
  const label = device?.label ?? data.info?.label ?? t("chat.chatSession.theMachine");
  // Events sent to all pages arrive at once; the view of one session may be updated later.
  const told = useToldSession(deviceId, sessionId);
  const summary = told ?? open?.state.summary ?? null;
  useTitle(summary?.name);
  const project = data.projects?.find((each) => each.id === summary?.projectId);
  const readLog = useCallback<LogReader>(
    (processLogRef, from) => host.request("get_process_log", { processLogRef, from }),
    [host],
  );
  const loadImage = useMemo(() => cachingLoader((sha256) => fetchImage(host, sessionId, sha256)), [host, sessionId]);
  if (devices && !device) {
    return <UnknownDevice />;
  }
  return (
    <NamesContext value={nameOf}>
      <LogContext value={readLog}>
        <ImagesContext value={loadImage}>
          <div className="flex h-full min-h-0 flex-col">
            <PageHeader
              title={
                <>
                  {summary?.pinned ? <Pinned /> : null}
                  {summary ? summary.name || t("chat.chatSession.newSession") : t("chat.chatSession.session")}
                </>
              }
              subtitle={
                <>
                  {summary?.parentSessionId ? (
                    <ParentLink host={host} projectId={summary.projectId} sessionId={summary.parentSessionId} />
                  ) : null}
                  {[summary?.archived ? t("chat.chatSession.archived") : null, project?.name, label]
                    .filter(Boolean)
                    .join(" · ")}
                </>
              }
              back={
                summary?.parentSessionId
                  ? address.session(deviceId, summary.parentSessionId)
                  : address.machine(deviceId)
              }
              actions={
                summary ? (
                  <>
                    <IconButton
                      label={t("chat.chatSession.search")}
                      data-testid="open-find"
                      aria-keyshortcuts="/"
                      onClick={() => setFind(find ?? "")}
                    >
                      <SearchIcon />
                    </IconButton>
                    <IconButton
                      label={t("chat.chatSession.branches")}
                      data-testid="open-tree"
                      onClick={() => setTree(true)}
                    >
                      <BranchIcon />
                    </IconButton>
                    {wide && may(data.info, "files") ? (
                      <IconButton
                        label={t("chat.chatSession.changes")}
                        data-testid="open-changes"
                        onClick={() => setChanges(true)}
                      >
                        <FilesIcon />
                      </IconButton>
                    ) : null}
                    <SessionMenu
                      host={host}
                      info={data.info}
                      session={summary}
                      view={open?.view}
                      onChanges={!wide && may(data.info, "files") ? () => setChanges(true) : undefined}
                    />
                  </>
                ) : null
              }
            />
            {find === undefined ? null : (
              <LazyPart>
                <FindBar
                  {...{ host, sessionId, entryId, text: find }}
                  onText={setFind}
                  onClose={() => setFind(undefined)}
                />
              </LazyPart>
            )}
            <main className="flex min-h-0 flex-1 flex-col">
              {open ? (
                <SessionBody
                  open={open}
                  host={host}
                  label={label}
                  data={data}
                  tree={tree}
                  onTree={setTree}
                  changes={changes}
                  onChanges={setChanges}
                  entryId={entryId}
                />
              ) : (
                <Loading />
              )}
            </main>
          </div>
        </ImagesContext>
      </LogContext>
    </NamesContext>
  );
}
