import { afterEach, expect, it, vi } from "vitest";
import { Emulator, loadLibrary } from "./emulator";

afterEach(() => vi.unstubAllGlobals());

it("shows nothing of a screen that was lost while it was drawn", async () => {
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener() {},
    removeEventListener() {},
    addListener() {},
    removeListener() {},
  }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.stubGlobal(
    "CSSStyleSheet",
    class {
      replaceSync() {}
    },
  );
  Object.assign(document, { adoptedStyleSheets: [] });
  const box = document.body.appendChild(document.createElement("div"));
  const events = { onInput() {}, onSize() {}, onTitle() {}, onLink() {}, onLeave() {} };
  const emulator = new Emulator(await loadLibrary(), box, events, (bytes) => `[${bytes} missing]`);
  const write = (text: string) =>
    new Promise<void>((resolve) => emulator.write(new TextEncoder().encode(text), resolve));
  await write("$ htop\r\n");
  await write("\x1b[?1049h\x1b[?1000h\x1b[?1006h\x1b[5;10r\x1b[31mhalf\x1b]0;tit");
  emulator.missed(7);
  await write("plain");
  const { terminal } = emulator;
  const line = (at: number) => terminal.buffer.active.getLine(at)?.translateToString(true);
  expect(terminal.buffer.active.type).toBe("normal");
  expect(terminal.modes.mouseTrackingMode).toBe("none");
  const top = terminal.buffer.active.baseY;
  expect([line(top), line(top + 1), line(top + 2)]).toEqual(["[7 missing]", "plain", ""]);
  expect(line(0)).toBe("$ htop");
  expect(
    terminal.buffer.active
      .getLine(top + 1)
      ?.getCell(0)
      ?.isFgDefault(),
  ).toBe(true);
  emulator.dispose();
});
