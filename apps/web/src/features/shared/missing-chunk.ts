// Parts of the page are loaded on demand. After an update the server no longer has the files of an open page: only
// reloading helps.

/** A part of the page that could not be loaded. */
export class MissingChunk extends Error {
  constructor(cause: unknown) {
    super("missing-chunk", { cause });
    this.name = "MissingChunk";
  }
}

/** Wraps an import, so that a failure to load differs from an error of the loaded code. */
export function chunk<T>(load: () => Promise<T>): () => Promise<T> {
  return () =>
    load().catch((cause: unknown) => {
      throw new MissingChunk(cause);
    });
}

/** Why a part is missing. `script` is the script that a new page would start with. */
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

/** The version for which this tab was reloaded, so that no tab reloads forever. */
const reloadedFor = "scorel.reloaded";

/** Reports whether the page may reload by itself: once for each version, and never with unsent text. */
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
    return false; // without storage a loop cannot be detected
  }
}

/** Reports whether a visible field contains text, or images are attached. */
function unsent(): boolean {
  const fields = document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    "textarea, input:is([type=text], [type=url], [type=password], :not([type]))",
  );
  return [...fields].some(({ value }) => value !== "") || document.querySelector("[data-unsent]") !== null;
}
