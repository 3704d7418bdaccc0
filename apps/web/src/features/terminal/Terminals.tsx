import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Terminal } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { ErrorText } from "../../components/ErrorText";
import { CloseIcon, PlusIcon, TerminalIcon } from "../../components/icons";
import { EmptyState } from "../../components/Notice";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/terminal";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { isRefusal } from "../shared/errors";
import { chunk } from "../shared/missing-chunk";
import { useAct } from "../shared/use-act";
import { type Library, loadLibrary } from "./emulator";
import { TerminalView } from "./TerminalView";
import { useTerminalList } from "./use-terminal-list";

const load = chunk(loadLibrary);

export interface TerminalsProps {
  host: Host;
  /** The label of the machine. */
  label: string;
  /** This browser's terminals when the page opens. */
  first: Terminal[];
  /** The project whose folder new terminals start in. */
  project: string | undefined;
  /** The session whose worktree new terminals start in instead. */
  session: string | undefined;
}

/** Terminals as tabs. Each keeps its screen while another one is visible. */
export function Terminals({ host, label, first, project, session }: TerminalsProps) {
  const fits = (each: Terminal) =>
    (each.projectId ?? undefined) === project && (each.sessionId ?? undefined) === session && !each.ended;
  const [shown, setShown] = useState<string | null>((first.find(fits) ?? first[0])?.id ?? null);
  const [list, setList] = useTerminalList(host, first, shown);
  const here = list.find(fits);
  const [titles, setTitles] = useState<Record<string, string>>({});
  const [closing, setClosing] = useState<Terminal | null>(null);
  const [library, setLibrary] = useState<Library | null>(null);
  const [missing, setMissing] = useState<unknown>(null);
  const { busy, error, act } = useAct();
  const tabs = useRef<HTMLDivElement>(null);
  // Whether the tabs were changed by keyboard, so that the focus stays there.
  const [byKeys, setByKeys] = useState(false);
  const visited = useRef(new Set<string>());
  if (shown) {
    visited.current.add(shown);
  }
  const focusTab = () => tabs.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
  const show = (id: string, keys = false) => {
    setByKeys(keys);
    setShown(id);
  };
  const started = useRef(false);

  const open = () =>
    act("open", async () => {
      const request = {
        clientKey: crypto.randomUUID(),
        cols: 80,
        rows: 24,
        ...(project ? { projectId: project } : {}),
        ...(session ? { sessionId: session } : {}),
      };
      const { terminal } = await host.request("open_terminal", request);
      setList((before) => [...before.filter((each) => each.id !== terminal.id), terminal]);
      show(terminal.id);
    });
  useEffect(() => {
    load().then(setLibrary, setMissing);
  }, []);
  const begin = useRef(open);
  useEffect(() => {
    if (!started.current && !here) {
      begin.current();
    }
    started.current = true;
  }, [here]);
  useEffect(() => {
    if (byKeys && shown) {
      tabs.current?.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    }
  }, [byKeys, shown]);
  if (missing) {
    throw missing; // the page then offers to reload
  }

  const close = async (terminal: Terminal) => {
    await host.request("close_terminal", { terminalId: terminal.id }).catch((error) => {
      if (!isRefusal(error) || error.kind !== ApiKind.not_found) {
        throw error; // a terminal that no longer exists is closed
      }
    });
    const at = list.findIndex((each) => each.id === terminal.id);
    const rest = list.filter((each) => each.id !== terminal.id);
    setList(rest);
    setShown((before) => (before === terminal.id ? ((rest[at] ?? rest.at(-1))?.id ?? null) : before));
  };
  const nameOf = (terminal: Terminal) =>
    titles[terminal.id] || t("terminal.page.tab", { number: list.indexOf(terminal) + 1 });
  return (
    <>
      {list.length > 0 ? (
        <div className="flex shrink-0 items-center gap-1 border-line border-b bg-sunken/60 px-2 py-1">
          <Tabs ref={tabs} list={list} shown={shown} nameOf={nameOf} onShow={show} />
          {shown ? (
            <CloseButton
              name={nameOf(list.find((each) => each.id === shown) as Terminal)}
              onClick={() => setClosing(list.find((each) => each.id === shown) ?? null)}
            />
          ) : null}
          <IconButton label={t("terminal.page.new")} data-testid="new-terminal" disabled={busy !== null} onClick={open}>
            <PlusIcon />
          </IconButton>
        </div>
      ) : busy ? null : (
        <EmptyState
          icon={<TerminalIcon />}
          title={t("terminal.page.none")}
          actions={
            <Button tone="primary" data-testid="new-terminal" onClick={open}>
              {t("terminal.page.open")}
            </Button>
          }
        >
          {t("terminal.page.noneExplained", { label })}
        </EmptyState>
      )}
      {error ? (
        <div className="safe-x py-2">
          <ErrorText>{error}</ErrorText>
        </div>
      ) : null}
      {library === null || (busy && list.length === 0) ? (
        <div className="p-4">
          <Skeleton label={t("terminal.page.loading")} rows={4} />
        </div>
      ) : (
        list
          .filter((each) => visited.current.has(each.id))
          .map((terminal) => (
            <TerminalView
              key={terminal.id}
              host={host}
              library={library}
              terminal={terminal}
              label={t("terminal.view.label", { name: nameOf(terminal), label })}
              active={terminal.id === shown}
              onTitle={(title) => setTitles((before) => ({ ...before, [terminal.id]: title }))}
              focus={!byKeys}
              onLeave={() => {
                setByKeys(true);
                focusTab();
              }}
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

function CloseButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <IconButton label={t("terminal.page.close", { name })} data-testid="close-terminal" onClick={onClick}>
      <CloseIcon />
    </IconButton>
  );
}

interface TabsProps {
  ref: React.RefObject<HTMLDivElement | null>;
  list: Terminal[];
  shown: string | null;
  nameOf: (terminal: Terminal) => string;
  onShow: (id: string, keys?: boolean) => void;
}

function Tabs({ ref, list, shown, nameOf, onShow }: TabsProps) {
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = list.findIndex((each) => each.id === shown);
    const next = by === undefined ? undefined : list[at + by];
    if (next) {
      event.preventDefault();
      onShow(next.id, true);
    }
  };
  return (
    <div
      ref={ref}
      role="tablist"
      aria-label={t("terminal.page.tabs")}
      onKeyDown={move}
      className="flex min-w-0 flex-1 gap-1 overflow-x-auto"
    >
      {list.map((terminal) => (
        <button
          key={terminal.id}
          type="button"
          role="tab"
          aria-selected={terminal.id === shown}
          tabIndex={terminal.id === shown ? 0 : -1}
          data-testid="terminal-tab"
          onClick={() => onShow(terminal.id)}
          className={cx(
            "touchable max-w-48 shrink-0 truncate rounded-md px-3 text-sm",
            terminal.id === shown
              ? "bg-surface font-medium text-ink shadow-[inset_0_0_0_1px_var(--c-line)]"
              : "text-muted hover:text-ink",
          )}
        >
          <bdi>{nameOf(terminal)}</bdi>
        </button>
      ))}
    </div>
  );
}
