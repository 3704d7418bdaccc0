import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Host } from "../../api/contract";
import type { FileEntry } from "../../api/types";
import { ChevronRightIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/changes";
import type { FilePlace } from "../chat/context/files-context";
import { visible } from "../shared/visible";
import { Elsewhere } from "./Elsewhere";
import { Failed } from "./Failed";
import { FileView } from "./viewer/FileView";

export interface FileBrowserProps {
  host: Host;
  sessionId: string;
  /** The file to open first; null for the folder. */
  file: FilePlace | null;
  onPrompt: ((text: string) => void) | null;
}

/** Browses the files of a session's folder: one folder or one file at a time. */
export function FileBrowser({ host, sessionId, file, onPrompt }: FileBrowserProps) {
  const [at, setAt] = useState<{ path: string; file: boolean }>({ path: file?.path ?? "", file: file !== null });
  // The path at which a file named without its folder was found.
  const [found, setFound] = useState(file?.path);
  const sought = at.file && at.path === found ? file : null;
  const names = at.path === "" ? [] : at.path.split("/");
  const crumb = "touchable rounded px-1 hover:bg-sunken";
  return (
    <div>
      <nav aria-label={t("changes.files")} dir="ltr" className="mb-2 break-all font-mono text-sm">
        <button type="button" className={crumb} onClick={() => setAt({ path: "", file: false })}>
          {t("changes.folder")}
        </button>
        {names.map((name, i) => {
          const path = names.slice(0, i + 1).join("/");
          return (
            <span key={path}>
              {" / "}
              {i === names.length - 1 ? (
                <span aria-current="page" className="px-1">
                  {visible(name)}
                </span>
              ) : (
                <button type="button" className={crumb} onClick={() => setAt({ path, file: false })}>
                  {visible(name)}
                </button>
              )}
            </span>
          );
        })}
      </nav>
      {at.file ? (
        <FileView
          key={at.path}
          {...{ host, sessionId, onPrompt }}
          path={at.path}
          line={sought?.line ?? 0}
          end={sought?.end ?? 0}
          missing={
            sought && at.path === file?.path
              ? (failed) => (
                  <Elsewhere
                    {...{ host, sessionId, failed }}
                    path={at.path}
                    onOpen={(path) => {
                      setFound(path);
                      setAt({ path, file: true });
                    }}
                  />
                )
              : undefined
          }
        />
      ) : (
        <Folder
          host={host}
          sessionId={sessionId}
          path={at.path}
          onOpen={(entry) =>
            setAt({ path: at.path === "" ? entry.name : `${at.path}/${entry.name}`, file: entry.kind !== "folder" })
          }
        />
      )}
    </div>
  );
}

interface FolderProps {
  host: Host;
  sessionId: string;
  path: string;
  onOpen: (entry: FileEntry) => void;
}

function Folder({ host, sessionId, path, onOpen }: FolderProps) {
  const list = useQuery({
    queryKey: [host.deviceId, "list_files", sessionId, path],
    queryFn: () => host.request("list_files", { sessionId, path }),
    retry: false,
    gcTime: 0,
  });
  if (list.isPending) {
    return <Skeleton label={t("changes.loading")} rows={6} />;
  }
  if (!list.data) {
    return <Failed error={list.error} onRetry={() => list.refetch()} />;
  }
  if (list.data.entries.length === 0) {
    return <p className="text-muted text-sm">{t("changes.empty")}</p>;
  }
  return (
    <>
      <ul className="divide-y divide-line rounded-md border border-line">
        {list.data.entries.map((entry) => (
          <li key={entry.name}>
            <button
              type="button"
              data-testid="file-entry"
              aria-disabled={entry.closed || entry.kind === "other" || undefined}
              onClick={() => (entry.closed || entry.kind === "other" ? undefined : onOpen(entry))}
              className="touchable flex w-full items-center gap-2 px-3 py-1.5 text-left font-mono text-sm hover:bg-sunken aria-disabled:text-muted"
            >
              <span dir="ltr" className="min-w-0 flex-1 break-all">
                {visible(entry.name)}
                {entry.kind === "folder" ? "/" : ""}
              </span>
              {entry.closed ? (
                <span className="shrink-0 font-sans text-muted text-xs">{t("changes.notShown")}</span>
              ) : entry.kind === "link" ? (
                <span className="font-sans text-muted text-xs">{t("changes.link")}</span>
              ) : entry.kind === "folder" ? (
                <ChevronRightIcon className="text-faint" />
              ) : null}
            </button>
          </li>
        ))}
      </ul>
      {list.data.truncated ? <p className="mt-2 text-muted text-xs">{t("changes.truncated")}</p> : null}
    </>
  );
}
