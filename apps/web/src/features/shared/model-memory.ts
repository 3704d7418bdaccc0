const nameOf = (deviceId: string) => `scorel.model.${deviceId}`;

/** The model that was last chosen for new sessions on a machine; "" where none was. */
export function rememberedModel(deviceId: string): string {
  try {
    return localStorage.getItem(nameOf(deviceId)) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the model that new sessions on a machine begin with, in this browser. "" forgets it. */
export function rememberModel(deviceId: string, name: string): void {
  try {
    if (name) {
      localStorage.setItem(nameOf(deviceId), name);
    } else {
      localStorage.removeItem(nameOf(deviceId));
    }
  } catch {} // storage is full or closed: the choice holds for this page alone
}
