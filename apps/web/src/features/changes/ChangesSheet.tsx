import { useState } from "react";
import type { Host } from "../../api/contract";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/changes";
import type { FilePlace } from "../chat/context/files-context";
import { useReadable } from "../shared/scorel-context";
import { ChangeList } from "./ChangeList";
import { FileBrowser } from "./FileBrowser";
import { emptyDraft } from "./git/commit-draft";
import { GitPanel } from "./git/GitPanel";
import { Parts } from "./Parts";

export interface ChangesSheetProps {
  host: Host;
  sessionId: string;
  /** The last step of the session that may have changed files. */
  step: string;
  mayWrite: boolean;
  /** Appends text to the draft; null if nothing can be sent. */
  onPrompt: ((text: string) => void) | null;
  /** The file to open first; null for the changes. */
  file: FilePlace | null;
  onClose: () => void;
}

/** A session's changes, its repository, and the files of its folder. */
export default function ChangesSheet({ host, sessionId, step, mayWrite, onPrompt, file, onClose }: ChangesSheetProps) {
  const [part, setPart] = useState<"changes" | "git" | "files">(file ? "files" : "changes");
  const [draft, setDraft] = useState(emptyDraft);
  const status = useReadable(host.status);
  return (
    <Sheet title={t("changes.title")} onClose={onClose} wide>
      <div data-testid="changes-sheet" className="min-h-64">
        <Parts
          label={t("changes.title")}
          parts={[
            { id: "changes", text: t("changes.changes") },
            { id: "git", text: t("changes.git.git") },
            { id: "files", text: t("changes.files") },
          ]}
          chosen={part}
          onChoose={setPart}
          className="mb-3 border-line border-b pb-2"
        />
        {status === "offline" ? (
          <p role="status" data-testid="changes-offline" className="mb-3 text-sm text-warn">
            {t("changes.offline")}
          </p>
        ) : null}
        {part === "changes" ? (
          <ChangeList {...{ host, sessionId, step, mayWrite, onPrompt }} />
        ) : part === "git" ? (
          <GitPanel {...{ host, sessionId, step, mayWrite, onPrompt, draft }} onDraft={setDraft} />
        ) : (
          <FileBrowser {...{ host, sessionId, file, onPrompt }} />
        )}
      </div>
    </Sheet>
  );
}
