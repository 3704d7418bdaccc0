import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import type { Host } from "../../api/contract";
import type { FileChange, FileStatus } from "../../api/types";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { ChevronRightIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/changes";
import { visible } from "../chat/text/visible";
import type { LinePlace } from "../diff/Block";
import { Counts } from "../diff/Counts";
import { DiffView } from "../diff/DiffView";
import { sentence } from "../shared/errors";
import { CommentForm } from "./CommentForm";
import { Failed } from "./Failed";
import { quoteOf } from "./quote";

export interface ChangeRowProps {
  file: FileChange;
  host: Host;
  sessionId: string;
  mayWrite: boolean;
  onPrompt: ((text: string) => void) | null;
  onReverted: () => void;
}

/** A file that has changed, and when it is open, how. */
export function ChangeRow({ file, host, sessionId, mayWrite, onPrompt, onReverted }: ChangeRowProps) {
  const [open, setOpen] = useState(false);
  const body = useId();
  return (
    <li data-testid="change" className="overflow-hidden rounded-md border border-line">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? body : undefined}
        onClick={() => setOpen(!open)}
        className="touchable flex w-full min-w-0 items-center gap-2 px-3 py-2 text-left hover:bg-sunken"
      >
        <ChevronRightIcon className={cx("shrink-0 text-faint transition-transform", open && "rotate-90")} />
        <span className="min-w-0 flex-1">
          <span dir="ltr" className="block break-all font-mono text-sm">
            {visible(file.from ? `${file.from} → ${file.path}` : file.path)}
          </span>
          <span className="block text-muted text-xs">
            {statusText(file.status)} · {file.byTools ? t("changes.byTools") : t("changes.byOthers")}
          </span>
        </span>
        <Counts file={{ added: file.added ?? 0, removed: file.removed ?? 0 }} />
      </button>
      {open ? (
        <div id={body} className="border-line border-t">
          <Detail
            path={file.path}
            host={host}
            sessionId={sessionId}
            mayWrite={mayWrite}
            onPrompt={onPrompt}
            onReverted={onReverted}
          />
        </div>
      ) : null}
    </li>
  );
}

function statusText(status: FileStatus): string {
  switch (status) {
    case "added":
      return t("changes.added");
    case "modified":
      return t("changes.modified");
    case "deleted":
      return t("changes.deleted");
    case "renamed":
      return t("changes.renamed");
    case "conflicted":
      return t("changes.conflicted");
    default:
      return t("changes.unknown");
  }
}

type DetailProps = Omit<ChangeRowProps, "file"> & { path: string };

function Detail({ path, host, sessionId, mayWrite, onPrompt, onReverted }: DetailProps) {
  const [place, setPlace] = useState<LinePlace | null>(null);
  const one = useQuery({
    queryKey: [host.deviceId, "get_changes", sessionId, path],
    queryFn: () => host.request("get_changes", { sessionId, path }),
    retry: false,
    gcTime: 0,
  });
  if (one.isPending) {
    return <Skeleton label={t("changes.loading")} rows={3} />;
  }
  const note = "px-3 py-2 text-muted text-sm";
  if (one.error) {
    return (
      <div className={note}>
        <Failed error={one.error} onRetry={() => one.refetch()} />
      </div>
    );
  }
  const file = one.data.files.find((each) => each.path === path);
  if (!file) {
    return <p className={note}>{t("changes.nothing")}</p>;
  }
  return (
    <>
      {file.closed ? <p className={note}>{t("changes.closed")}</p> : null}
      {file.binary ? <p className={note}>{t("changes.binary")}</p> : null}
      {file.diff ? (
        <DiffView
          of={{ diff: file.diff }}
          rows={80}
          bare
          onLine={onPrompt ? setPlace : undefined}
          below={
            place && onPrompt
              ? {
                  place,
                  node: (
                    <CommentForm
                      line={place.line}
                      onCancel={() => setPlace(null)}
                      onComment={(comment) => {
                        onPrompt(quoteOf(place, comment));
                        setPlace(null);
                      }}
                    />
                  ),
                }
              : null
          }
        />
      ) : null}
      {file.cut ? <p className={note}>{t("changes.cut")}</p> : null}
      {file.version && mayWrite ? (
        <Revert
          onRevert={() => host.request("revert_file", { sessionId, path, version: file.version ?? "" })}
          path={path}
          onReverted={onReverted}
        />
      ) : null}
    </>
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
      toast(sentence(cause));
      setBusy(false);
      setAsks(false);
    }
  };
  if (!asks) {
    return (
      <div className="flex justify-end border-line border-t p-2">
        <Button tone="quiet" data-testid="revert" onClick={() => setAsks(true)}>
          {t("changes.revert")}
        </Button>
      </div>
    );
  }
  return (
    <div role="alert" className="flex flex-wrap items-center justify-end gap-2 border-line border-t p-2">
      <p className="min-w-48 flex-1 text-sm">{t("changes.revertAsk")}</p>
      <Button tone="quiet" autoFocus onClick={() => setAsks(false)}>
        {t("changes.cancel")}
      </Button>
      <Button tone="danger" data-testid="revert-now" busy={busy} onClick={revert}>
        {t("changes.revert")}
      </Button>
    </div>
  );
}
