import { useState } from "react";
import { Link } from "wouter";
import type { Host } from "../../api/contract";
import { ApiKind, type ImportTranscriptResponse, type Transcript } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { address } from "../route/address";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { ago } from "../shared/time";
import { useAct } from "../shared/use-act";
import { withHelp } from "../shared/with-help";

/** The agents whose conversations can be imported. Their names are the same in every language. */
const agents = [
  { value: "claude", label: "Claude Code" },
  { value: "codex", label: "Codex" },
  { value: "gemini", label: "Gemini CLI" },
  { value: "opencode", label: "opencode" },
];

export interface TranscriptListProps {
  host: Host;
  projectId: string;
}

/** Conversations that other agents keep on the machine, to import as sessions of the project. */
export function TranscriptList({ host, projectId }: TranscriptListProps) {
  const [from, setFrom] = useState("");
  const [everywhere, setEverywhere] = useState(false);
  const { busy, error, act } = useAct();
  const [done, setDone] = useState<string | null>(null);
  const take = ({ id }: Transcript, refetch: () => Promise<unknown>) =>
    act(id, async () => {
      setDone(null);
      const response = await host.request("import_transcript", { from, id, projectId });
      setDone(outcome(response));
      await refetch();
    });
  return (
    <Section title={t("project.transcripts.title")} error={error} done={done}>
      <p className="mt-1 text-muted text-sm">{t("project.transcripts.explained")}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Select
          label={t("project.transcripts.agent")}
          data-testid="transcripts-from"
          value={from}
          options={[{ value: "", label: t("project.transcripts.choose") }, ...agents]}
          onChange={(event) => setFrom(event.target.value)}
        />
        <Select
          label={t("project.transcripts.folders")}
          value={everywhere ? "all" : "here"}
          options={[
            { value: "here", label: t("project.transcripts.here") },
            { value: "all", label: t("project.transcripts.everywhere") },
          ]}
          onChange={(event) => setEverywhere(event.target.value === "all")}
        />
      </div>
      {from === "" ? null : <Transcripts key={from} {...{ host, projectId, from, everywhere, busy }} onImport={take} />}
    </Section>
  );
}

interface TranscriptsProps extends TranscriptListProps {
  from: string;
  everywhere: boolean;
  busy: string | null;
  onImport: (transcript: Transcript, refetch: () => Promise<unknown>) => void;
}

function Transcripts({ host, projectId, from, everywhere, busy, onImport }: TranscriptsProps) {
  const { data, error, refetch } = useHostQuery(host, "list_transcripts", everywhere ? { from } : { from, projectId });
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return <p className="mt-2 text-sm">{t("project.transcripts.old")}</p>;
  }
  return (
    <>
      {error ? <ErrorText className="mt-2">{withHelp(error)}</ErrorText> : null}
      {data || error ? null : <Skeleton label={t("project.transcripts.loading")} rows={3} className="mt-2" />}
      {data?.transcripts.length === 0 ? <p className="mt-2 text-sm">{t("project.transcripts.none")}</p> : null}
      <ul className="mt-2 divide-y divide-line">
        {data?.transcripts.map((transcript) => (
          <li key={transcript.id} data-testid="transcript" className="py-2.5">
            <TranscriptRow
              deviceId={host.deviceId}
              transcript={transcript}
              busy={busy === transcript.id}
              onImport={() => onImport(transcript, refetch)}
            />
          </li>
        ))}
      </ul>
      {data && data.total > data.transcripts.length ? (
        <p className="mt-1 text-muted text-sm">
          {t("project.transcripts.more", { count: data.total - data.transcripts.length })}
        </p>
      ) : null}
      {data?.damaged ? (
        <p className="mt-1 text-muted text-sm">{t("project.transcripts.damaged", { count: data.damaged })}</p>
      ) : null}
    </>
  );
}

/** Returns what became of an import, with everything that is missing. */
function outcome({ outcome, added, damaged = 0, unfinished = 0 }: ImportTranscriptResponse): string {
  return [
    outcome === "imported" ? t("project.transcripts.imported", { count: added }) : "",
    outcome === "extended" ? t("project.transcripts.extended", { count: added }) : "",
    outcome === "unchanged" ? t("project.transcripts.unchanged") : "",
    outcome === "continued" ? t("project.transcripts.continued") : "",
    damaged > 0 ? t("project.transcripts.skipped", { count: damaged }) : "",
    unfinished > 0 ? t("project.transcripts.unfinished") : "",
  ]
    .filter((text) => text !== "")
    .join(" ");
}

interface TranscriptRowProps {
  deviceId: string;
  transcript: Transcript;
  busy: boolean;
  onImport: () => void;
}

function TranscriptRow({ deviceId, transcript, busy, onImport }: TranscriptRowProps) {
  const { title, folder, updatedAt, sessionId } = transcript;
  return (
    <>
      <div className="flex items-baseline gap-x-2">
        <span dir="auto" className="min-w-0 flex-1 break-words text-sm">
          {title}
        </span>
        <time className="shrink-0 text-faint text-xs">{ago(updatedAt, Date.now())}</time>
      </div>
      {folder ? <p className="mt-0.5 break-all font-mono text-faint text-xs">{folder}</p> : null}
      <div className="-ml-3 mt-1 flex flex-wrap items-center gap-x-1">
        <Button
          tone="quiet"
          className="text-xs"
          data-testid="transcript-import"
          aria-label={
            sessionId ? t("project.transcripts.updateOne", { title }) : t("project.transcripts.importOne", { title })
          }
          busy={busy}
          onClick={onImport}
        >
          {sessionId ? t("project.transcripts.update") : t("project.transcripts.import")}
        </Button>
        {sessionId ? (
          <Link
            to={address.session(deviceId, sessionId)}
            className="touchable inline-flex items-center px-3 text-accent text-xs underline underline-offset-2"
            aria-label={t("project.transcripts.openOne", { title })}
          >
            {t("project.transcripts.open")}
          </Link>
        ) : null}
      </div>
    </>
  );
}
