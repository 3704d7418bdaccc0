import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns the Chromium for the tests: Debian's, or the one that CHROMIUM names. */
export function chromium(): string {
  return process.env.CHROMIUM || "/usr/bin/chromium";
}

/**
 * Returns a Chromium without windows, which needs a quarter less CPU time: Debian's headless shell, or what CHROMIUM
 * names.
 */
export function headlessShell(): string {
  return process.env.CHROMIUM || "/usr/bin/chromium-headless-shell";
}

/** Returns the scorel binary under test: the one built by `make build`, or the one that SCOREL_BIN names. */
export function scorel(): string {
  return process.env.SCOREL_BIN || fileURLToPath(new URL("../../../bin/scorel", import.meta.url));
}

/** Throws an error with `advice` if a tool does not exist. */
export function requireTool(path: string, advice: string): void {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    throw new Error(`${path} is not there or cannot be run: ${advice}`);
  }
}
