import { MAX_LABEL } from "@scorel/protocol/gen/wire";
import { t } from "../i18n/api";

/**
 * Returns the part of a typed name that can be a label: printable, trimmed, and cut to the limit of the wire format.
 */
export function labelFrom(typed: string): string {
  const clean = typed.replace(/[\p{C}\s]+/gu, " ").trim();
  let label = "";
  let bytes = 0;
  for (const sign of clean) {
    bytes += new TextEncoder().encode(sign).length;
    if (bytes > MAX_LABEL) {
      break;
    }
    label += sign;
  }
  return label.trimEnd();
}

/** Returns the default name of this browser, such as "Chrome on Linux". */
export function labelFromUserAgent(userAgent: string): string {
  return t("api.label.browserOnSystem", { browser: browserOf(userAgent), system: systemOf(userAgent) });
}

// The order matters: most browsers also name the ones that they descend from.
const BROWSERS: readonly [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|Chromium\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPod/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "Mac"],
  [/Linux|X11/, "Linux"],
];

function browserOf(userAgent: string): string {
  return BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? t("api.label.browser");
}

function systemOf(userAgent: string): string {
  return SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1] ?? t("api.label.unknownSystem");
}
