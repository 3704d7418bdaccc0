import type { Host } from "../../api/contract";
import { MAX_FILE_BYTES, type SessionSummary } from "../../api/types";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/chat";
import { ExpiredNotice, RevokedNotice } from "../device/HostNotice";
import { may } from "../shared/grants";
import type { HostData } from "../shared/host-data";
import { withHelp } from "../shared/with-help";
import { Composer } from "./composer/Composer";
import { compactFocus } from "./composer/commands";
import type { Insert } from "./context/history-context";
import type { OpenSession } from "./context/use-session";
import type { Attached } from "./images/use-attachments";
import { KeptDraft } from "./KeptDraft";
import { SessionBackend } from "./mode/SessionBackend";

export interface SessionComposerProps {
  open: OpenSession;
  host: Host;
  data: HostData;
  /** null until the host has sent it. */
  summary: SessionSummary | null;
  /** The name of the machine. */
  label: string;
  draftKey: string;
  insert: Insert | null;
  onInsert: (insert: Insert) => void;
}

/** The composer of a session; without access, what was written in it and the way to get access again. */
export function SessionComposer({
  open,
  host,
  data,
  summary,
  label,
  draftKey,
  insert,
  onInsert,
}: SessionComposerProps) {
  const { state, view } = open;
  const { info } = data;
  const toast = useToast();
  if (state.status === "revoked" || state.status === "expired") {
    return (
      <div className="safe-x safe-b mx-auto w-full max-w-3xl space-y-2">
        <KeptDraft draftKey={draftKey} />
        {state.status === "revoked" ? <RevokedNotice label={label} /> : <ExpiredNotice label={label} />}
      </div>
    );
  }
  const mayPrompt = may(info, "prompt");
  const model = info?.models.find((each) => each.name === summary?.model);
  const projectId = summary?.projectId ?? "";
  const compact = (text: string, instructions: string) =>
    host
      .request("compact_session", { sessionId: view.sessionId, clientKey: crypto.randomUUID(), instructions })
      .catch((cause: unknown) => {
        toast(withHelp(cause));
        onInsert({ text });
      });
  const say = (text: string, steer?: boolean, images: Attached[] = []) => {
    const instructions = images.length > 0 ? null : compactFocus(text);
    if (instructions === null) {
      return view.send(text, steer, images);
    }
    void compact(text, instructions);
  };
  const cancel = () => view.cancel().catch((cause: unknown) => toast(withHelp(cause)));
  return (
    <Composer
      draftKey={draftKey}
      noImages={model && !model.images ? t("chat.sessionBody.theModelDoesNotAccept", { name: model.name }) : null}
      maxFile={info ? (info.maxFile ?? 0) : MAX_FILE_BYTES}
      onSend={say}
      suggest={{
        slash: { host, projectId, backendOf: summary?.backend ? view.sessionId : undefined },
        files: { host, place: { sessionId: view.sessionId }, projectId, allowed: may(info, "files") },
      }}
      insert={insert}
      onCancel={state.live.turn && mayPrompt ? cancel : null}
      cancelling={state.live.turn?.cancelling ?? false}
      turn={state.live.turn?.turnId}
      blocked={blockedBy(summary, mayPrompt)}
    >
      {info && summary && mayPrompt ? <SessionBackend info={info} session={summary} deviceId={host.deviceId} /> : null}
    </Composer>
  );
}

/** Returns why nothing can be written here, or null. */
function blockedBy(summary: SessionSummary | null, mayPrompt: boolean): string | null {
  if (summary?.damaged) {
    return t("chat.sessionBody.thisSessionCanBeRead");
  }
  return mayPrompt ? null : t("chat.sessionBody.viewOnlyInThisBrowser");
}
