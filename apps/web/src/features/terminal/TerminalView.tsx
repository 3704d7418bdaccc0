import "@xterm/xterm/css/xterm.css";
import "./terminal.css";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import type { Terminal } from "../../api/types";
import { cx } from "../../components/cx";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/terminal";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useReadable } from "../shared/scorel-context";
import { useTouch } from "../shared/use-media";
import { withHelp } from "../shared/with-help";
import { Emulator, type EmulatorEvents, type Library } from "./emulator";
import { Feed, type FeedState } from "./feed";
import { type Modifiers, modified, type PhoneKey, sequenceOf } from "./keys";
import { PhoneKeys } from "./PhoneKeys";

const noModifiers: Modifiers = { ctrl: false, alt: false };
const encoder = new TextEncoder();

export interface TerminalViewProps {
  host: Host;
  library: Library;
  terminal: Terminal;
  /** Its accessible name. */
  label: string;
  /** Whether it is the visible one. */
  active: boolean;
  /** Whether it takes the focus when it becomes visible. */
  focus: boolean;
  onTitle: (title: string) => void;
  onLeave: () => void;
}

interface Parts {
  emulator: Emulator;
  feed: Feed;
}

/** One terminal: its screen, its state, and on a phone the keys that the keyboard lacks. */
export function TerminalView({ host, library, terminal, label, active, focus, onTitle, onLeave }: TerminalViewProps) {
  const box = useRef<HTMLDivElement>(null);
  const [parts, setParts] = useState<Parts | null>(null);
  const [modifiers, setModifiers] = useState(noModifiers);
  const [link, setLink] = useState<string | null>(null);
  const touch = useTouch();
  const latest = useRef({ onTitle, onLeave, modifiers });
  latest.current = { onTitle, onLeave, modifiers };

  useEffect(() => {
    if (!box.current) {
      return;
    }
    const input = (bytes: Uint8Array) => {
      const held = latest.current.modifiers;
      if (held.ctrl || held.alt) {
        setModifiers(noModifiers);
        return feed.type(encoder.encode(modified(new TextDecoder().decode(bytes), held)));
      }
      return feed.type(bytes);
    };
    const events: EmulatorEvents = {
      onInput: input,
      onSize: (cols, rows) => feed.resize(cols, rows),
      onTitle: (title) => latest.current.onTitle(title),
      onLink: setLink,
      onLeave: () => latest.current.onLeave(),
    };
    const emulator = new Emulator(library, box.current, events, (bytes) => t("terminal.view.missed", { bytes }));
    const feed = new Feed(host, terminal.id, emulator);
    feed.state.subscribe(() => {
      if (feed.state.get().name === "open") {
        feed.resize(emulator.terminal.cols, emulator.terminal.rows);
      }
    });
    emulator.fit();
    feed.start();
    setParts({ emulator, feed });
    return () => {
      feed.stop();
      emulator.dispose();
    };
  }, [host, library, terminal.id]);

  useEffect(() => {
    const area = parts?.emulator.terminal.textarea;
    area?.setAttribute("aria-label", label);
    if (active && parts) {
      parts.emulator.fit();
    }
  }, [active, parts, label]);

  useEffect(() => {
    if (active && focus) {
      parts?.emulator.terminal.focus();
    }
  }, [active, focus, parts]);

  return (
    <div className={cx("flex min-h-0 flex-1 flex-col", active ? "" : "hidden")}>
      <div
        ref={box}
        data-testid="terminal-screen"
        className="terminal-box min-h-0 flex-1 bg-surface font-mono text-ink"
      />
      {parts ? <FeedNote feed={parts.feed} /> : null}
      {parts && touch ? <Keys parts={parts} modifiers={modifiers} onModifiers={setModifiers} /> : null}
      {link ? (
        <ConfirmSheet
          title={t("terminal.link.title")}
          confirm={t("terminal.link.open")}
          onConfirm={async () => void window.open(link, "_blank", "noopener,noreferrer")}
          onClose={() => setLink(null)}
        >
          <p>{t("terminal.link.explained")}</p>
          <p dir="ltr" className="mt-3 break-all rounded-md bg-sunken p-2 font-mono text-ink text-sm">
            {link}
          </p>
        </ConfirmSheet>
      ) : null}
    </div>
  );
}

/** Shows why the terminal cannot be used. */
function FeedNote({ feed }: { feed: Feed }) {
  const state = useReadable(feed.state);
  const text = noteOf(state);
  return (
    <p
      role="status"
      data-testid="terminal-state"
      data-state={state.name}
      className={cx("shrink-0 text-sm", text ? "border-line border-t bg-sunken px-4 py-2 text-muted" : "")}
    >
      {text}
    </p>
  );
}

function noteOf(state: FeedState): ReactNode {
  switch (state.name) {
    case "open":
      return "";
    case "connecting":
      return t("terminal.view.connecting");
    case "lost":
      return t("terminal.view.lost");
    case "gone":
      return t("terminal.view.gone");
    case "failed":
      return withHelp(state.error);
    case "ended":
      return endOf(state.terminal);
  }
}

function endOf({ ended }: Terminal): string {
  switch (ended?.reason) {
    case "closed":
      return t("terminal.view.closed");
    case "revoked":
      return t("terminal.view.revoked");
    case "stopped":
      return t("terminal.view.stopped");
    default:
      return ended?.signal
        ? t("terminal.view.signaled", { signal: ended.signal })
        : t("terminal.view.exited", { code: ended?.exitCode ?? 0 });
  }
}

interface KeysProps {
  parts: Parts;
  modifiers: Modifiers;
  onModifiers: (modifiers: Modifiers) => void;
}

function Keys({ parts, modifiers, onModifiers }: KeysProps) {
  const { emulator, feed } = parts;
  const toast = useToast();
  const state = useReadable(feed.state);
  const press = (key: PhoneKey) => {
    const text = sequenceOf(key, emulator.terminal.modes.applicationCursorKeysMode);
    feed.type(encoder.encode(modified(text, modifiers)));
    onModifiers(noModifiers);
  };
  const paste = async () => {
    try {
      emulator.terminal.paste(await navigator.clipboard.readText());
    } catch {
      toast(t("terminal.keys.pasteBlocked"));
    }
  };
  return (
    <PhoneKeys
      disabled={state.name !== "open"}
      modifiers={modifiers}
      onModifiers={onModifiers}
      onKey={press}
      onPaste={paste}
    />
  );
}
