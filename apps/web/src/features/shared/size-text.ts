import { number } from "../../i18n/i18n";

/** Formats a size: "12 KiB", "1.5 MiB", "16 MiB". */
export function sizeText(bytes: number): string {
  const mebibytes = bytes / (1 << 20);
  return mebibytes < 1
    ? `${number(Math.ceil(bytes / 1024))} KiB`
    : `${number(mebibytes, Number.isInteger(mebibytes) ? 0 : 1)} MiB`;
}
