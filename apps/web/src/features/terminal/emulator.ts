import type { FitAddon } from "@xterm/addon-fit";
import type { Terminal } from "@xterm/xterm";
import type { Screen } from "./feed";
import { safeLink, safeTitle } from "./keys";
import { withStrictStyles } from "./strict-styles";
import { onThemeChange, themeOf } from "./theme";

/** The terminal library, in its own chunk. */
export interface Library {
  Terminal: typeof Terminal;
  FitAddon: typeof FitAddon;
}

export async function loadLibrary(): Promise<Library> {
  const [xterm, fit] = await Promise.all([import("@xterm/xterm"), import("@xterm/addon-fit")]);
  return { Terminal: xterm.Terminal, FitAddon: fit.FitAddon };
}

export interface EmulatorEvents {
  /** Called with typed input, or with the terminal's answer to a program. */
  onInput(bytes: Uint8Array): void;
  onSize(cols: number, rows: number): void;
  onTitle(title: string): void;
  /** Called when the person clicks a link that a program offers. */
  onLink(url: string): void;
  /** Called when the person leaves the terminal by keyboard. */
  onLeave(): void;
}

const encoder = new TextEncoder();

/**
 * Ends interrupted sequences, and the modes that a program may have set and whose reset may be among the lost bytes:
 * CAN ends a sequence; then follow the main screen, the plain style, character set, margins and keys, and no reports of
 * the mouse, the focus or of pasting.
 */
const plainState = `\x18\x1b[?1049l\x1b[!p\x1b(B\x0f\x1b[?${[1, 9, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004, 2026].join("l\x1b[?")}l\x1b>\x1b[?7h\x1b[?25h\x1b[0m`;

/** A terminal on the page. Programs' output can draw, and do nothing else. */
export class Emulator implements Screen {
  readonly terminal: Terminal;
  readonly #fit: FitAddon;
  readonly #box: HTMLElement;
  readonly #end: (() => void)[] = [];
  readonly #missedText: (bytes: number) => string;

  constructor(library: Library, box: HTMLElement, events: EmulatorEvents, missedText: (bytes: number) => string) {
    this.#box = box;
    this.#missedText = missedText;
    this.terminal = new library.Terminal({
      theme: themeOf(box),
      fontFamily: getComputedStyle(box).fontFamily,
      fontSize: 13,
      cursorBlink: false,
      scrollback: 5000,
      minimumContrastRatio: 4.5,
      screenReaderMode: true,
      macOptionIsMeta: true,
      // No reports or changes of the window: windowOptions stays empty.
      linkHandler: {
        activate: (_event, text) => {
          const url = safeLink(text);
          if (url) {
            events.onLink(url);
          }
        },
      },
    });
    this.#fit = new library.FitAddon();
    this.terminal.loadAddon(this.#fit);
    const dropStyles = withStrictStyles(() => this.terminal.open(box));
    this.terminal.onData((text) => events.onInput(encoder.encode(text)));
    this.terminal.onBinary((text) => events.onInput(Uint8Array.from(text, (char) => char.charCodeAt(0))));
    this.terminal.onResize(({ cols, rows }) => events.onSize(cols, rows));
    this.terminal.onTitleChange((title) => events.onTitle(safeTitle(title)));
    this.terminal.attachCustomKeyEventHandler((event) => {
      if (event.key === "F6" && event.ctrlKey) {
        if (event.type === "keydown") {
          events.onLeave();
        }
        return false;
      }
      // Leaves the browser's own paste and copy to it.
      const { ctrlKey, shiftKey, code } = event;
      return !(ctrlKey && shiftKey && (code === "KeyC" || code === "KeyV"));
    });
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(box);
    this.#end.push(() => observer.disconnect(), dropStyles);
    this.#end.push(onThemeChange(() => this.#repaint()));
  }

  write(data: Uint8Array, drawn: () => void): void {
    this.terminal.write(data, drawn);
  }

  missed(bytes: number | null): void {
    // Scrolls the drawn content into the history, so that the output that follows begins on an empty screen.
    const { rows } = this.terminal;
    const note = bytes === null ? "" : `${this.#missedText(bytes)}\r\n`;
    this.terminal.write(`${plainState}\x1b[${rows};1H${"\n".repeat(rows)}\x1b[H${note}`);
  }

  /** Fits the size to the box, unless it is hidden. */
  fit(): void {
    if (this.#box.clientWidth > 0 && this.#box.clientHeight > 0) {
      this.#fit.fit();
    }
  }

  dispose(): void {
    this.terminal.dispose();
    for (const end of this.#end) {
      end();
    }
  }

  #repaint(): void {
    this.terminal.options.theme = themeOf(this.#box);
  }
}
