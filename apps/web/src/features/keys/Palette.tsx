import { type KeyboardEvent, type ReactNode, useId, useLayoutEffect, useState } from "react";
import { flushSync } from "react-dom";
import { IconButton } from "../../components/Button";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { useModal } from "../../components/use-modal";
import { useScrim } from "../../components/use-scrim";
import { t } from "../../i18n/keys";
import { pageCommands } from "../shared/commands";
import { closeOverlay } from "../shared/overlay";
import { type Entry, fitting, type Group, suggested } from "./entries";
import { PaletteList } from "./PaletteList";
import { useActions } from "./use-actions";
import { useHits } from "./use-hits";
import { usePlaces } from "./use-places";

/** Opens any session, machine or text, and runs the actions of pages, found by a few letters of their names. */
export default function Palette() {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const { groups, busy, note } = useGroups(text);
  const entries = groups.flatMap((group) => group.entries);
  const at = Math.max(
    0,
    entries.findIndex(({ id }) => id === chosen),
  );
  const active = entries[at];
  const listId = useId();
  const dialog = useModal();
  const scrim = useScrim(dialog, closeOverlay);
  useLayoutEffect(() => dialog.current?.querySelector("input")?.focus(), [dialog]);
  const run = (entry: Entry) => {
    // The focus must be back on the page before the page moves it.
    flushSync(closeOverlay);
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) {
      return;
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      setChosen(entries[(at + by + entries.length) % entries.length]?.id ?? null);
    } else if (event.key === "Enter" && active && !event.repeat) {
      event.preventDefault();
      run(active);
    }
  };
  return (
    <dialog
      ref={dialog}
      aria-label={t("keys.palette.title")}
      data-testid="palette"
      {...scrim}
      onCancel={(event) => {
        event.preventDefault();
        closeOverlay();
      }}
      className="rise m-0 h-dvh max-h-none w-full max-w-none overflow-hidden border-line bg-surface p-0 font-sans text-base text-ink tracking-normal shadow-raised backdrop:bg-scrim sm:mx-auto sm:mt-[12dvh] sm:h-auto sm:max-h-[70dvh] sm:max-w-2xl sm:rounded-lg sm:border"
    >
      <div className="safe-t flex h-full max-h-[inherit] flex-col">
        <div className="flex shrink-0 items-center gap-1 border-line border-b py-1.5 pr-2 pl-4">
          {busy ? <Spinner className="text-faint" /> : <SearchIcon className="shrink-0 text-faint" />}
          <input
            type="text"
            role="combobox"
            data-testid="palette-text"
            aria-label={t("keys.palette.title")}
            aria-autocomplete="list"
            aria-expanded={entries.length > 0}
            aria-controls={entries.length > 0 ? listId : undefined}
            aria-activedescendant={active ? optionId(listId, active) : undefined}
            placeholder={t("keys.palette.placeholder")}
            autoComplete="off"
            spellCheck={false}
            enterKeyHint="go"
            maxLength={200}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(null);
            }}
            onKeyDown={onKeyDown}
            className="touchable min-w-0 flex-1 bg-transparent px-2 text-base outline-none placeholder:text-faint"
          />
          <IconButton label={t("keys.palette.close")} onClick={closeOverlay}>
            <CloseIcon />
          </IconButton>
        </div>
        <PaletteList
          id={listId}
          groups={groups}
          active={active}
          optionId={(entry) => optionId(listId, entry)}
          onActive={({ id }) => setChosen(id)}
          onRun={run}
        />
        <p role="status" className="sr-only">
          {busy && entries.length === 0
            ? t("keys.palette.searching")
            : t("keys.palette.results", { n: entries.length })}
        </p>
        {note || entries.length === 0 ? (
          <p className="safe-b shrink-0 border-line border-t px-4 pt-3 text-muted text-sm first:border-t-0">
            {note ?? (busy ? t("keys.palette.searching") : t("keys.palette.nothing"))}
          </p>
        ) : null}
      </div>
    </dialog>
  );
}

function optionId(listId: string, entry: Entry): string {
  return `${listId}-${entry.id}`;
}

/** Returns the local matches, followed by what the machines find. */
function useGroups(text: string): { groups: Group[]; busy: boolean; note: ReactNode } {
  const { machines, sessions, here, others } = usePlaces();
  const actions = useActions();
  const [page] = useState(() => pageCommands().map((each): Entry => ({ ...each, kind: "page", first: true })));
  const hits = useHits(machines, text);
  const entries = [...sessions, ...page, ...here, ...others, ...actions];
  if (text.trim() === "") {
    return { groups: suggested(entries), busy: false, note: null };
  }
  const groups = fitting(entries, text);
  return {
    groups: hits.entries.length > 0 ? [...groups, { kind: "text", entries: hits.entries }] : groups,
    busy: hits.busy,
    note: hits.note,
  };
}
