/** Returns the key of a device's session or list. A device id contains no space. */
export function keyOf(deviceId: string, id: string): string {
  return `${deviceId} ${id}`;
}

export function partsOf(key: string): [deviceId: string, id: string] {
  const at = key.indexOf(" ");
  return [key.slice(0, at), key.slice(at + 1)];
}
