import { number } from "../../i18n/i18n";

/** "12 KiB". */
export function sizeText(bytes: number): string {
  return bytes < 1 << 20 ? `${number(Math.ceil(bytes / 1024))} KiB` : `${number(bytes / (1 << 20), 1)} MiB`;
}
