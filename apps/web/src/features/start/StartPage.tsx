import { lazy, useEffect, useRef, useState } from "react";
import { useParams } from "wouter";
import type { Host, StartingSession } from "../../api/contract";
import { MAX_FILE_BYTES, type Project } from "../../api/types";
import { FolderIcon, TerminalIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/start";
import { Composer } from "../chat/composer/Composer";
import type { Insert } from "../chat/context/history-context";
import { KeptDraft } from "../chat/KeptDraft";
import { HostNotice } from "../device/HostNotice";
import { UnknownDevice } from "../device/UnknownDevice";
import { address, idIn, type paths } from "../route/address";
import { useSearchParams } from "../route/entry";
import { navigate } from "../route/history";
import { may } from "../shared/grants";
import { type HostData, useHostData } from "../shared/host-data";
import { useHost, useHostFreshness } from "../shared/host-queries";
import { LazyPart } from "../shared/MissingPart";
import { ModelSelect } from "../shared/ModelSelect";
import { chunk } from "../shared/missing-chunk";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useTitle } from "../shared/use-title";
import { StartChoices } from "./StartChoices";
import { StartingRow } from "./StartingRow";
import { useChoices } from "./use-choices";

const ServersWait = lazy(chunk(() => import("../project/ServersWait")));

/** The page of a new session: nothing is created before the first prompt is sent. */
export function StartPage() {
  const { deviceId } = useParams<typeof paths.newSession>();
  const params = useSearchParams();
  const projectId = idIn(params, "project") ?? "";
  const agent = idIn(params, "agent");
  const devices = useReadable(useScorel().devices);
  const host = useHost(deviceId);
  const status = useReadable(host.status);
  const starting = useStarting(host, projectId);
  useHostFreshness(host);
  useTitle(t("start.startPage.newSession"));
  const data = useHostData(host);
  const device = devices?.find((each) => each.id === deviceId);
  if (devices && !device) {
    return <UnknownDevice />;
  }
  const label = device?.label ?? data.info?.label ?? t("start.startPage.theMachine");
  const project = data.projects?.find((each) => each.id === projectId);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={t("start.startPage.newSession")}
        subtitle={[project?.name, label].filter(Boolean).join(" · ")}
        back={address.machine(deviceId)}
      />
      <main className="flex min-h-0 flex-1 flex-col">
        {status === "offline" || status === "expired" || status === "revoked" ? (
          <div className="safe-x mx-auto w-full max-w-3xl pt-4">
            <HostNotice status={status} label={label} />
          </div>
        ) : null}
        {project || (data.projects === null && status !== "open") ? (
          <Start
            key={projectId}
            {...{ host, data, projectId, label, starting }}
            removed={status === "revoked"}
            project={project ?? null}
            agent={agent ?? ""}
          />
        ) : data.projects ? (
          <EmptyState icon={<FolderIcon />} title={t("start.startPage.projectNotFound")}>
            {t("start.startPage.projectNotFoundExplained", { label })}
          </EmptyState>
        ) : (
          <div className="safe-x mx-auto w-full max-w-3xl py-6">
            <Skeleton label={t("start.startPage.loadingTheProject")} rows={4} />
          </div>
        )}
      </main>
    </div>
  );
}

interface StartProps {
  host: Host;
  data: HostData;
  projectId: string;
  /** null until the host has sent it; prompts wait until then. */
  project: Project | null;
  label: string;
  starting: StartingSession[];
  /** Whether this browser was removed on the machine: what was written is shown only. */
  removed: boolean;
  /** The agent chosen before; "" is the default one. */
  agent: string;
}

function Start({ host, data, projectId, project, label, starting, removed, agent }: StartProps) {
  const { info } = data;
  const choices = useChoices(host, info, projectId, agent);
  const [insert, setInsert] = useState<Insert | null>(null);
  const model = info?.models.find(({ name }) => name === choices.model);
  const edit = ({ clientKey, text, images }: StartingSession) => {
    host.newSessions.discard(clientKey);
    setInsert({ text, images });
  };
  const draftKey = `${host.deviceId}/new/${projectId}`;
  return (
    <>
      <div className="min-h-0 flex-1 overflow-y-auto">
        {removed ? (
          <div className="safe-x mx-auto w-full max-w-3xl">
            <KeptDraft draftKey={draftKey} />
          </div>
        ) : null}
        {starting.length > 0 ? (
          <div className="safe-x mx-auto w-full max-w-3xl">
            {starting.map((each) => (
              <StartingRow
                key={each.clientKey}
                host={host}
                starting={each}
                label={label}
                onEdit={removed ? null : () => edit(each)}
              />
            ))}
          </div>
        ) : removed ? null : (
          <EmptyState icon={<TerminalIcon />} title={t("start.startPage.whatShouldTheAgentDo")}>
            {t("start.startPage.worksIn", { project: project?.name ?? t("start.startPage.theProjectsFolder"), label })}
          </EmptyState>
        )}
      </div>
      <LazyPart>{info ? <ServersWait host={host} info={info} projectId={projectId} /> : null}</LazyPart>
      {removed ? null : <StartChoices choices={choices} />}
      {removed ? null : (
        <Composer
          draftKey={draftKey}
          noImages={model && !model.images ? t("start.startPage.noImages", { name: model.name }) : null}
          maxFile={info ? (info.maxFile ?? 0) : MAX_FILE_BYTES}
          onSend={(text, _, images) => host.newSessions.stored(host.newSessions.begin(choices.start, text, images))}
          suggest={{
            slash: { host, projectId, onAgent: choices.setAgent },
            files: { host, place: { projectId }, projectId, allowed: may(info, "files") },
          }}
          insert={insert}
          onCancel={null}
          cancelling={false}
          blocked={blockedBy(project, info === null || may(info, "prompt"), starting)}
        >
          {info && choices.backend === "" ? (
            <ModelSelect info={info} value={choices.model} onChange={choices.setModel} />
          ) : null}
        </Composer>
      )}
    </>
  );
}

/** Returns why nothing can be written here, or null. */
function blockedBy(project: Project | null, mayPrompt: boolean, starting: StartingSession[]): string | null {
  if (!mayPrompt) {
    return t("start.startPage.viewOnly");
  }
  if (project?.missing) {
    return t("start.startPage.folderMissing");
  }
  if (project?.unavailable) {
    return t("start.startPage.sessionsUnavailable");
  }
  return starting.some(({ state }) => state === "waiting") ? t("start.startPage.waitingToSend") : null;
}

/** Returns the project's sessions that are yet to begin. Once one has begun, the page opens it. */
function useStarting(host: Host, projectId: string): StartingSession[] {
  const all = useReadable(host.newSessions.state);
  const here = all.filter(({ start }) => start.projectId === projectId);
  const clientKey = here.find(({ state }) => state === "waiting")?.clientKey;
  const shown = useRef("");
  useEffect(() => {
    shown.current = projectId;
    return () => {
      shown.current = "";
    };
  }, [projectId]);
  useEffect(() => {
    if (!clientKey) {
      return;
    }
    // A session that has begun leaves the list, often before this resolves: that must not keep the page here.
    void host.newSessions.begun(clientKey).then((sessionId) => {
      if (shown.current === projectId) {
        navigate(address.session(host.deviceId, sessionId), { replace: true });
      }
    });
  }, [clientKey, host, projectId]);
  return here;
}
