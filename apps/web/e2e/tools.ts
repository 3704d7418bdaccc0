import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

/** The Chromium that the tests drive: Debian's, or the one that CHROMIUM names. */
export function chromium(): string {
  return process.env.CHROMIUM || "/usr/bin/chromium";
}

/** The scorel binary under test: the one that `make build` leaves, or the one that SCOREL_BIN names. */
export function scorel(): string {
  return process.env.SCOREL_BIN || fileURLToPath(new URL("../../../bin/scorel", import.meta.url));
}

/** Throws with a sentence that says what to do when a tool is not there. */
export function requireTool(path: string, advice: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Error(`${path} is not there or cannot be run: ${advice}`);
  }
}
