import { type FormEvent, type ReactNode, useState } from "react";
import type { DirEntry, Requests } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button, IconButton } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { ArrowUpIcon, BranchIcon, ChevronRightIcon, FolderIcon, HomeIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/device";
import { crumbs } from "./paths";

type Listing = Requests["list_dir"]["response"];

export interface FolderBrowserProps {
  /** null until the first folder was read. */
  listing: Listing | null;
  loading: boolean;
  /** Why the folder could not be read or used. */
  problem: ReactNode;
  /** Opens another folder; "" is the home folder. */
  onGo: (path: string) => void;
}

export function FolderBrowser({ listing, loading, problem, onGo }: FolderBrowserProps) {
  const [hidden, setHidden] = useState(false);
  const entries = listing?.entries.filter((entry) => hidden || !entry.hidden) ?? [];
  const hiddenCount = listing?.entries.filter((entry) => entry.hidden).length ?? 0;
  return (
    <div>
      <div className="flex items-center gap-0.5">
        <IconButton label={t("device.folderBrowser.homeFolder")} onClick={() => onGo("")}>
          <HomeIcon />
        </IconButton>
        <IconButton
          label={t("device.folderBrowser.up")}
          disabled={!listing?.parent}
          onClick={() => onGo(listing?.parent ?? "")}
        >
          <ArrowUpIcon />
        </IconButton>
        {listing ? <Crumbs path={listing.path} onGo={onGo} /> : <span className="flex-1" />}
        {loading ? <Spinner label={t("device.folderBrowser.loadingTheFolder")} className="mr-2 text-faint" /> : null}
      </div>
      <ErrorText className="mt-2">{problem}</ErrorText>
      {listing ? (
        <ul className="mt-2 divide-y divide-line overflow-hidden rounded-md border border-line">
          {entries.map((entry) => (
            <li key={entry.path}>
              <DirRow entry={entry} onGo={onGo} />
            </li>
          ))}
          {entries.length === 0 ? (
            <li className="px-3 py-4 text-faint text-sm">{t("device.folderBrowser.noSubfolders")}</li>
          ) : null}
        </ul>
      ) : problem ? null : (
        <Skeleton label={t("device.folderBrowser.loadingTheFolder")} rows={6} className="mt-2" />
      )}
      {listing?.truncated ? <p className="mt-2 text-muted text-sm">{t("device.folderBrowser.notAllListed")}</p> : null}
      {hiddenCount > 0 ? (
        <label className="touchable mt-2 flex items-center gap-2 text-muted text-sm">
          <input
            type="checkbox"
            checked={hidden}
            onChange={(event) => setHidden(event.target.checked)}
            className="size-4 accent-accent"
          />
          {t("device.folderBrowser.showHidden", { count: hiddenCount })}
        </label>
      ) : null}
      <PathForm onGo={onGo} />
    </div>
  );
}

function Crumbs({ path, onGo }: { path: string; onGo: (path: string) => void }) {
  const parts = crumbs(path);
  return (
    // The end of a long path matters most: the row begins at its right edge.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling boxes must be reachable by keyboard
    <div tabIndex={0} className="flex min-w-0 flex-1 flex-row-reverse overflow-x-auto" title={path}>
      <ol aria-label={t("device.folderBrowser.folder")} className="mr-auto flex items-center font-mono text-sm">
        {parts.map((part, i) => (
          <li key={part.path} className="flex items-center">
            {i > 1 ? <span className="text-faint">/</span> : null}
            <button
              type="button"
              onClick={() => onGo(part.path)}
              aria-current={i === parts.length - 1 ? "location" : undefined}
              className="touchable min-w-6 pointer-coarse:min-w-11 whitespace-nowrap rounded-sm px-1 text-muted hover:text-ink aria-[current]:font-medium aria-[current]:text-ink"
            >
              {part.name}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

function DirRow({ entry, onGo }: { entry: DirEntry; onGo: (path: string) => void }) {
  return (
    <button
      type="button"
      data-testid="dir-entry"
      data-path={entry.path}
      onClick={() => onGo(entry.path)}
      className="touchable flex w-full items-center gap-2.5 px-3 py-2 text-left text-sm hover:bg-sunken"
    >
      <FolderIcon className="shrink-0 text-faint" />
      <span className="min-w-0 flex-1 truncate">{entry.name}</span>
      {entry.git ? (
        <Badge>
          <BranchIcon /> {t("device.folderBrowser.git")}
        </Badge>
      ) : null}
      <ChevronRightIcon className="shrink-0 text-faint" />
    </button>
  );
}

/** A form for a folder that is faster to type than to find. */
function PathForm({ onGo }: { onGo: (path: string) => void }) {
  const [path, setPath] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim()) {
      onGo(path.trim());
    }
  };
  return (
    <form onSubmit={submit} className="mt-3 flex items-end gap-2">
      <TextField
        className="min-w-0 flex-1"
        label={t("device.folderBrowser.orTypeAPath")}
        mono
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={path}
        onChange={(event) => setPath(event.target.value)}
      />
      <Button type="submit">{t("device.folderBrowser.go")}</Button>
    </form>
  );
}
