import { useEffect, useRef, useState } from "react";
import type { Terminal } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { CloseIcon, PlusIcon, TerminalIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/terminal";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { chunk } from "../shared/missing-chunk";
import { type Library, loadLibrary } from "./emulator";
import { TerminalTabs } from "./TerminalTabs";
import { TerminalView } from "./TerminalView";
import { useTabFocus } from "./use-tab-focus";
import { type TerminalsOptions, useTerminals } from "./use-terminals";

const load = chunk(loadLibrary);

export interface TerminalsProps extends TerminalsOptions {
  /** The label of the machine. */
  label: string;
}

/** Terminals as tabs. Each keeps its screen while another one is visible. */
export function Terminals({ label, ...options }: TerminalsProps) {
  const { list, shown, show, open, close, opening, error } = useTerminals(options);
  const { tabs, byKeys, setByKeys, focusTab } = useTabFocus(shown);
  const library = useLibrary();
  const visited = useVisited(shown);
  const [titles, setTitles] = useState<Record<string, string>>({});
  const [closing, setClosing] = useState<Terminal | null>(null);
  const nameOf = (terminal: Terminal) =>
    titles[terminal.id] || t("terminal.page.tab", { number: list.indexOf(terminal) + 1 });
  const openNew = () => void open(() => setByKeys(false));
  const current = list.find((each) => each.id === shown);
  return (
    <>
      {list.length > 0 ? (
        <div className="flex shrink-0 items-center gap-1 border-line border-b bg-sunken/60 px-2 py-1">
          <TerminalTabs
            ref={tabs}
            list={list}
            shown={shown}
            nameOf={nameOf}
            onShow={(id, keys) => {
              setByKeys(keys);
              show(id);
            }}
          />
          {current ? (
            <IconButton
              label={t("terminal.page.close", { name: nameOf(current) })}
              data-testid="close-terminal"
              onClick={() => setClosing(current)}
            >
              <CloseIcon />
            </IconButton>
          ) : null}
          <IconButton label={t("terminal.page.new")} data-testid="new-terminal" disabled={opening} onClick={openNew}>
            <PlusIcon />
          </IconButton>
        </div>
      ) : opening ? null : (
        <NoTerminals label={label} onOpen={openNew} />
      )}
      {error ? (
        <div className="safe-x py-2">
          <ErrorText>{error}</ErrorText>
        </div>
      ) : null}
      {library === null || (opening && list.length === 0) ? (
        <div className="p-4">
          <Skeleton label={t("terminal.page.loading")} rows={4} />
        </div>
      ) : (
        list
          .filter((each) => visited.has(each.id))
          .map((terminal) => (
            <TerminalView
              key={terminal.id}
              host={options.host}
              library={library}
              terminal={terminal}
              label={t("terminal.view.label", { name: nameOf(terminal), label })}
              active={terminal.id === shown}
              onTitle={(title) => setTitles((before) => ({ ...before, [terminal.id]: title }))}
              focus={!byKeys}
              onLeave={focusTab}
            />
          ))
      )}
      {closing ? (
        <ConfirmSheet
          title={t("terminal.page.closeTitle", { name: nameOf(closing) })}
          confirm={t("terminal.page.closeConfirm")}
          onConfirm={() => close(closing)}
          onClose={() => setClosing(null)}
        >
          {t("terminal.page.closeExplained")}
        </ConfirmSheet>
      ) : null}
    </>
  );
}

function NoTerminals({ label, onOpen }: { label: string; onOpen: () => void }) {
  return (
    <EmptyState
      icon={<TerminalIcon />}
      title={t("terminal.page.none")}
      actions={
        <Button tone="primary" data-testid="new-terminal" onClick={onOpen}>
          {t("terminal.page.open")}
        </Button>
      }
    >
      {t("terminal.page.noneExplained", { label })}
    </EmptyState>
  );
}

/** Loads the terminal emulator; null until then. If that fails it throws: the page then offers to reload. */
function useLibrary(): Library | null {
  const [library, setLibrary] = useState<Library | null>(null);
  const [missing, setMissing] = useState<unknown>(null);
  useEffect(() => {
    load().then(setLibrary, setMissing);
  }, []);
  if (missing) {
    throw missing;
  }
  return library;
}

/** Returns the ids of the terminals that were shown: the others have no screen yet. */
function useVisited(shown: string | null): ReadonlySet<string> {
  const visited = useRef(new Set<string>());
  if (shown) {
    visited.current.add(shown);
  }
  return visited.current;
}
