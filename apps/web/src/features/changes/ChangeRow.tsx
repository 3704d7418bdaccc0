import { useState } from "react";
import type { Host } from "../../api/contract";
import type { FileChange } from "../../api/types";
import { Button } from "../../components/Button";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/changes";
import { useLostFocus } from "../shared/lost-focus";
import { visible } from "../shared/visible";
import { withHelp } from "../shared/with-help";
import { FileDetail } from "./FileDetail";
import { FileRow } from "./FileRow";

export interface ChangeRowProps {
  file: FileChange;
  host: Host;
  sessionId: string;
  mayWrite: boolean;
  onPrompt: ((text: string) => void) | null;
  onReverted: () => void;
}

/** A file that has changed since the session began; when open, with its changes. */
export function ChangeRow({
  file: { path, ...file },
  host,
  sessionId,
  mayWrite,
  onPrompt,
  onReverted,
}: ChangeRowProps) {
  return (
    <FileRow file={{ path, ...file }} note={file.byTools ? t("changes.byTools") : t("changes.byOthers")}>
      {() => (
        <FileDetail
          queryKey={[host.deviceId, "get_changes", sessionId, path]}
          load={async () => {
            const { files } = await host.request("get_changes", { sessionId, path });
            return files.find((each) => each.path === path) ?? null;
          }}
          unchanged={t("changes.nothing")}
          onPrompt={onPrompt}
        >
          {({ version }) =>
            version && mayWrite ? (
              <Revert
                onRevert={() => host.request("revert_file", { sessionId, path, version })}
                path={path}
                onReverted={onReverted}
              />
            ) : null
          }
        </FileDetail>
      )}
    </FileRow>
  );
}

interface RevertProps {
  path: string;
  onRevert: () => Promise<unknown>;
  onReverted: () => void;
}

function Revert({ path, onRevert, onReverted }: RevertProps) {
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const toast = useToast();
  const revert = async () => {
    setBusy(true);
    try {
      await onRevert();
      toast(t("changes.kept", { path: visible(path) }));
      onReverted();
    } catch (cause) {
      toast(withHelp(cause));
      setBusy(false);
      setAsks(false);
    }
  };
  if (!asks) {
    return (
      <div className="flex justify-end border-line border-t p-2">
        <RevertButton onClick={() => setAsks(true)} />
      </div>
    );
  }
  return (
    <div ref={intoView} role="alert" className="flex flex-wrap items-center justify-end gap-2 border-line border-t p-2">
      <p className="min-w-48 flex-1 text-sm">{t("changes.revertAsk")}</p>
      {/* Cancel is where the first button was: a double click changes nothing. */}
      <div className="flex gap-2">
        <Button tone="danger" data-testid="revert-now" busy={busy} onClick={revert}>
          {t("changes.revert")}
        </Button>
        <Button tone="quiet" autoFocus onClick={() => setAsks(false)}>
          {t("changes.cancel")}
        </Button>
      </div>
    </div>
  );
}

/** The question is taller than the button in whose place it appears. */
function intoView(question: HTMLElement | null): void {
  question?.scrollIntoView?.({ block: "nearest" });
}

function RevertButton({ onClick }: { onClick: () => void }) {
  const ref = useLostFocus<HTMLButtonElement>();
  return (
    <Button ref={ref} tone="quiet" data-testid="revert" onClick={onClick}>
      {t("changes.revert")}
    </Button>
  );
}
