// Parts of the page come when they are needed. After an update the server has no file of the page that is open: only
// loading the page again helps.

/** A part of the page could not be fetched. */
export class MissingChunk extends Error {
  constructor(cause: unknown) {
    super("missing-chunk", { cause });
    this.name = "MissingChunk";
  }
}

/** An import whose failure is told apart from an error of the code that it brings. */
export function chunk<T>(load: () => Promise<T>): () => Promise<T> {
  return () =>
    load().catch((cause: unknown) => {
      throw new MissingChunk(cause);
    });
}

/** Why a part is missing. `script` is what the page would start with now. */
export type Missing = { why: "updated"; script: string } | { why: "unreachable" } | { why: "unknown" };

/** Asks the server which version it serves. */
export async function whyMissing(): Promise<Missing> {
  const running = document.querySelector("script[type=module][src]")?.getAttribute("src");
  try {
    const answer = await fetch("/", { cache: "no-store", signal: AbortSignal.timeout(8_000) });
    const html = answer.ok ? await answer.text() : "";
    const script = /<script[^>]*type="module"[^>]*src="([^"]+)"/.exec(html)?.[1];
    return script && running && script !== running ? { why: "updated", script } : { why: "unknown" };
  } catch {
    return { why: "unreachable" };
  }
}

/** Remembers for which version this tab was reloaded, so that no tab reloads for ever. */
const reloadedFor = "scorel.reloaded";

/** Whether the page may reload by itself: once for each version, and never over something that was not sent. */
export function mayReload(script: string): boolean {
  if (unsent()) {
    return false;
  }
  try {
    if (sessionStorage.getItem(reloadedFor) === script) {
      return false;
    }
    sessionStorage.setItem(reloadedFor, script);
    return true;
  } catch {
    return false; // without storage there is no telling a loop
  }
}

/** Whether a field that is in sight holds something, or images are attached. */
function unsent(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "textarea, input:is([type=text], [type=url], [type=password], :not([type]))",
  );
  return [...fields].some(({ value }) => value !== "") || document.querySelector("[data-unsent]") !== null;
}
