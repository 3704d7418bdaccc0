import type { ITheme } from "@xterm/xterm";

const onDark: ITheme = {
  black: "#1c2420",
  red: "#ff978b",
  green: "#8bd8a8",
  yellow: "#f2bf66",
  blue: "#8dbcf5",
  magenta: "#e29ad6",
  cyan: "#5fd3c6",
  white: "#d5ddd8",
  brightBlack: "#94a299",
  brightRed: "#ffb3aa",
  brightGreen: "#a9e6bf",
  brightYellow: "#f8d593",
  brightBlue: "#b0d1f9",
  brightMagenta: "#eebbe5",
  brightCyan: "#8fe6dc",
  brightWhite: "#ffffff",
};

const onLight: ITheme = {
  black: "#131815",
  red: "#a9221b",
  green: "#0d6640",
  yellow: "#7c4a00",
  blue: "#1c56a8",
  magenta: "#8a2f7c",
  cyan: "#0b6470",
  white: "#5c675f",
  brightBlack: "#465048",
  brightRed: "#c0332b",
  brightGreen: "#11794d",
  brightYellow: "#8f5a08",
  brightBlue: "#2a67bd",
  brightMagenta: "#a0408f",
  brightCyan: "#127685",
  brightWhite: "#2b332e",
};

/** Returns the colors of a terminal for the page's current theme, from the element that contains it. */
export function themeOf(box: HTMLElement): ITheme {
  const { color, backgroundColor } = getComputedStyle(box);
  const [red = 0, green = 0, blue = 0] = (backgroundColor.match(/[\d.]+/g) ?? []).map(Number);
  const dark = red * 0.299 + green * 0.587 + blue * 0.114 < 128;
  return {
    ...(dark ? onDark : onLight),
    background: backgroundColor,
    foreground: color,
    cursor: color,
    cursorAccent: backgroundColor,
    selectionBackground: dark ? "#2f5a49" : "#bfe0d1",
  };
}

/** Calls `act` when the page's colors may have changed. Returns a function that unsubscribes. */
export function onThemeChange(act: () => void): () => void {
  const observer = new MutationObserver(act);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const system = window.matchMedia?.("(prefers-color-scheme: dark)");
  system?.addEventListener("change", act);
  return () => {
    observer.disconnect();
    system?.removeEventListener("change", act);
  };
}
