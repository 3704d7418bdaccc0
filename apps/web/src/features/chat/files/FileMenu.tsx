import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../../../api/contract";
import { ApiKind, type FoundFile } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { FileIcon, FolderIcon, LinkIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { isRefusal } from "../../shared/errors";
import { hostKey } from "../../shared/host-keys";
import { useReadable } from "../../shared/scorel-context";
import { visible } from "../../shared/visible";
import { withHelp } from "../../shared/with-help";
import { matchingResources, useOffers } from "../offers/offers";
import { SuggestList } from "../suggest/SuggestList";
import type { SuggestProps } from "../suggest/suggest";
import { type FileScope, inOrder } from "./files";

export interface FileMenuProps extends SuggestProps {
  scope: FileScope;
  onPick: (item: Mentioned) => void;
}

/** A file or folder, or a resource with SERVER:URI as its path. */
export type Mentioned = Pick<FoundFile, "path"> & { kind: FoundFile["kind"] | "resource"; about?: string };

/** The files, folders and resources of MCP servers that a prompt can mention. */
export default function FileMenu({ scope, ...list }: FileMenuProps) {
  const { query } = list;
  const { files, notice } = useFiles(scope, query);
  const { resources } = useOffers(scope.host, scope.projectId);
  const items: Mentioned[] = [
    ...files,
    ...matchingResources(resources, query).map(({ server, uri, name, title }) => ({
      path: `${server}:${uri}`,
      kind: "resource" as const,
      about: title || name,
    })),
  ];
  return (
    <SuggestList
      {...list}
      kind="file"
      label={t("chat.files.title")}
      items={items}
      keyOf={({ path }) => path}
      written={({ path, kind }) => path === query && kind !== "folder"}
      empty={notice ? null : query === "" ? t("chat.files.none") : t("chat.files.nothing", { query })}
      notice={notice}
    >
      {({ path, kind, about }) =>
        kind === "resource" ? (
          <Resource path={path} about={about ?? ""} />
        ) : (
          <Name path={path} folder={kind === "folder"} />
        )
      }
    </SuggestList>
  );
}

function Resource({ path, about }: { path: string; about: string }) {
  return (
    <>
      <LinkIcon className="shrink-0 text-faint" />
      <span dir="auto" className="max-w-1/2 shrink-0 truncate font-medium text-[0.8125rem]">
        {visible(about)}
      </span>
      <span dir="ltr" className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-muted">
        {visible(path)}
      </span>
      <Badge tone="neutral">{t("chat.files.resource")}</Badge>
    </>
  );
}

/** The name comes first, because the folder may be truncated. */
function Name({ path, folder }: { path: string; folder: boolean }) {
  const cut = path.lastIndexOf("/") + 1;
  const Icon = folder ? FolderIcon : FileIcon;
  return (
    <>
      <Icon className="shrink-0 text-faint" />
      <span dir="ltr" className="max-w-full shrink-0 truncate font-medium font-mono text-[0.8125rem]">
        {visible(path.slice(cut))}
        {folder ? "/" : ""}
      </span>
      <span dir="ltr" className="min-w-0 flex-1 truncate font-mono text-[0.8125rem] text-muted">
        {visible(path.slice(0, cut))}
      </span>
    </>
  );
}

/** How long to wait for further typing, in milliseconds. */
const PAUSE = 120;

function useFiles({ host, place, allowed }: FileScope, query: string) {
  const online = useReadable(host.status) === "open";
  const settled = useSettled(query);
  const found = useQuery({
    queryKey: hostKey(host.deviceId, "find_files", { ...place, query: settled }),
    queryFn: () => host.request("find_files", { ...place, query: settled }),
    enabled: online && allowed,
    placeholderData: keepPreviousData,
    // Files change while the agent works: each opened list is loaded again.
    gcTime: 0,
    retry: (failures, error) => !isRefusal(error) && failures < 2,
  });
  if (!allowed || !online) {
    return { files: [], notice: allowed ? t("chat.files.offline") : t("chat.files.notAllowed") };
  }
  // Until the answer arrives, the items of the previous one are filtered.
  const behind = settled !== query || found.isPlaceholderData;
  const known = found.data?.files ?? [];
  const files = behind ? known.filter(({ path }) => inOrder(query, path)) : known;
  return { files, notice: noticeOf(found.error, behind || found.isPending, files.length, found.data?.truncated) };
}

function noticeOf(error: Error | null, loading: boolean, count: number, truncated = false): ReactNode {
  if (error) {
    const old = error instanceof ApiError && error.kind === ApiKind.unknown_request;
    return old ? t("chat.files.update") : withHelp(error);
  }
  if (loading && count === 0) {
    return t("chat.files.loading");
  }
  return truncated && count > 0 ? t("chat.files.more") : null;
}

/** Returns the text after typing has paused; the first text at once. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
