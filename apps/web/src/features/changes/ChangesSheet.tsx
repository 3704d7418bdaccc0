import { useState } from "react";
import type { Host } from "../../api/contract";
import { cx } from "../../components/cx";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/changes";
import { ChangeList } from "./ChangeList";
import { FileBrowser } from "./FileBrowser";

export interface ChangesSheetProps {
  host: Host;
  sessionId: string;
  mayWrite: boolean;
  /** Puts text behind the draft; null where nothing can be sent. */
  onPrompt: ((text: string) => void) | null;
  onClose: () => void;
}

/** What has changed since a session began, and the files of its folder. */
export default function ChangesSheet({ host, sessionId, mayWrite, onPrompt, onClose }: ChangesSheetProps) {
  const [part, setPart] = useState<"changes" | "files">("changes");
  return (
    <Sheet title={t("changes.title")} onClose={onClose} wide>
      <div data-testid="changes-sheet" className="min-h-64">
        <fieldset className="mb-3 flex gap-1 border-line border-b pb-2">
          <legend className="sr-only">{t("changes.title")}</legend>
          {(["changes", "files"] as const).map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={part === each}
              data-testid={`part-${each}`}
              onClick={() => setPart(each)}
              className={cx(
                "touchable rounded-md px-3 py-1 font-medium text-sm",
                part === each ? "bg-sunken text-ink" : "text-muted hover:text-ink",
              )}
            >
              {each === "changes" ? t("changes.changes") : t("changes.files")}
            </button>
          ))}
        </fieldset>
        {part === "changes" ? (
          <ChangeList host={host} sessionId={sessionId} mayWrite={mayWrite} onPrompt={onPrompt} />
        ) : (
          <FileBrowser host={host} sessionId={sessionId} />
        )}
      </div>
    </Sheet>
  );
}
