const nameOf = (deviceId: string) => `scorel.model.${deviceId}`;

/** Returns the model that was last chosen for new sessions on a machine; "" if none was. */
export function rememberedModel(deviceId: string): string {
  try {
    return localStorage.getItem(nameOf(deviceId)) ?? "";
  } catch {
    return "";
  }
}

/** Stores the model for new sessions on a machine, in this browser. "" removes it. */
export function rememberModel(deviceId: string, name: string): void {
  try {
    if (name) {
      localStorage.setItem(nameOf(deviceId), name);
    } else {
      localStorage.removeItem(nameOf(deviceId));
    }
  } catch {} // storage is full or unavailable: the choice lives in this page only
}
