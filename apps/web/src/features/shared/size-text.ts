/** "12 KiB". */
export function sizeText(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
