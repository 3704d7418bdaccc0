import { chromium, headlessShell, requireTool, scorel } from "./tools";

/** Checks before the first test that the browsers and scorel exist. A missing one fails the run; it never skips it. */
export default function check(): void {
  requireTool(chromium(), "install Debian's package chromium, or set CHROMIUM to the path of a Chromium");
  requireTool(headlessShell(), "install Debian's package chromium-headless-shell, or set CHROMIUM");
  requireTool(scorel(), "run `make build` in the root of the repository, or set SCOREL_BIN");
}
