import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect } from "react";
import type { Host } from "../../api/contract";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/changes";
import { visible } from "../shared/visible";

export interface ElsewhereProps {
  host: Host;
  sessionId: string;
  /** The end of a path, as a text named it. */
  path: string;
  onOpen: (path: string) => void;
  /** Shown if no file has such a path. */
  failed: ReactNode;
}

/** The maximum length of a path to search for, in characters. */
const maxQuery = 256;

/** Searches other folders for files whose paths end like one that does not exist. A single match is opened. */
export function Elsewhere({ host, sessionId, path, onOpen, failed }: ElsewhereProps) {
  const found = useQuery({
    queryKey: [host.deviceId, "find_files", sessionId, path],
    queryFn: () => host.request("find_files", { sessionId, query: path }),
    enabled: path.length <= maxQuery,
    retry: false,
    gcTime: 0,
  });
  const matches = (found.data?.files ?? []).filter((each) => each.kind !== "folder" && each.path.endsWith(`/${path}`));
  const only = matches.length === 1 ? matches[0]?.path : undefined;
  useEffect(() => {
    if (only !== undefined) {
      onOpen(only);
    }
  });
  if (found.isLoading || only !== undefined) {
    return <Skeleton label={t("changes.loading")} rows={8} />;
  }
  if (matches.length === 0) {
    return failed;
  }
  return (
    <section aria-label={t("changes.several", { path: visible(path) })}>
      <p role="status" className="mb-2 text-sm">
        {t("changes.several", { path: visible(path) })}
      </p>
      <ul className="divide-y divide-line rounded-md border border-line">
        {matches.map((each) => (
          <li key={each.path}>
            <button
              type="button"
              data-testid="file-match"
              dir="ltr"
              onClick={() => onOpen(each.path)}
              className="touchable w-full break-all px-3 py-1.5 text-left font-mono text-sm hover:bg-sunken"
            >
              {visible(each.path)}
            </button>
          </li>
        ))}
      </ul>
      {found.data?.truncated ? <p className="mt-2 text-muted text-xs">{t("changes.truncated")}</p> : null}
    </section>
  );
}
