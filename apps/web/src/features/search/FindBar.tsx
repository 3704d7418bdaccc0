import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { IconButton } from "../../components/Button";
import { ArrowDownIcon, ArrowUpIcon, CloseIcon, SearchIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { t } from "../../i18n/search";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { useReturnedFocus } from "../shared/lost-focus";
import { useFind } from "./use-find";

export interface FindBarProps {
  host: Host;
  sessionId: string;
  text: string;
  onText: (text: string) => void;
  /** The shown entry; undefined for the end of the session. */
  entryId: string | undefined;
  onClose: () => void;
}

/** Finds text in one session: the number of matches, and buttons to move between them. */
export default function FindBar({ host, sessionId, text, onText, entryId, onClose }: FindBarProps) {
  const field = useRef<HTMLInputElement>(null);
  const find = useFind(host, sessionId, text);
  const { hits } = find;
  const at = hits?.findIndex((hit) => hit.entryId === entryId) ?? -1;
  const [begins] = useState(text === "");
  useEffect(() => {
    if (begins) {
      field.current?.focus();
    }
  }, [begins]);
  // Reading ends at the newest match, so the search moves up from there.
  const step = (by: number) => {
    if (!hits?.length) {
      return;
    }
    const next = hits[at < 0 ? hits.length - 1 : (at + by + hits.length) % hits.length];
    if (next) {
      navigate(address.session(host.deviceId, sessionId, { entry: next.entryId }), { replace: true });
    }
  };
  const bar = useReturnedFocus<HTMLElement>();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === "Escape") {
      onClose();
    } else if (event.key === "Enter") {
      event.preventDefault();
      step(event.shiftKey ? 1 : -1);
    }
  };
  return (
    <search
      ref={bar}
      className="safe-x flex shrink-0 items-center gap-1 border-line border-b bg-surface py-1"
      data-testid="find"
    >
      <SearchIcon className="shrink-0 text-faint" />
      <input
        ref={field}
        type="search"
        data-testid="find-text"
        aria-label={t("search.findBar.searchThisSession")}
        placeholder={t("search.findBar.searchThisSession")}
        autoComplete="off"
        enterKeyHint="search"
        maxLength={200}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
        className="touchable -outline-offset-2! min-w-0 flex-1 rounded-sm bg-transparent px-2 text-base placeholder:text-faint sm:text-sm"
      />
      {find.busy ? <Spinner /> : null}
      <p role="status" data-testid="find-count" className="caption shrink-0 text-muted">
        {find.error ?? countOf(find, at)}
      </p>
      <IconButton label={t("search.findBar.previous")} disabled={!hits?.length} onClick={() => step(-1)}>
        <ArrowUpIcon />
      </IconButton>
      <IconButton label={t("search.findBar.next")} disabled={!hits?.length} onClick={() => step(1)}>
        <ArrowDownIcon />
      </IconButton>
      <IconButton label={t("search.findBar.close")} onClick={onClose}>
        <CloseIcon />
      </IconButton>
    </search>
  );
}

/** Returns a text such as "3 of 17". */
function countOf({ hits, more }: ReturnType<typeof useFind>, at: number): string {
  if (!hits) {
    return "";
  }
  const total = `${hits.length}${more ? "+" : ""}`;
  return at < 0
    ? t("search.findBar.places", { n: hits.length, total })
    : t("search.findBar.placeOf", { place: at + 1, total });
}
