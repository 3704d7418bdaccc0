/** Why this page cannot work, or null. */
export interface Unsupported {
  reason: string;
  advice: string;
}

/** What is looked at; the page's own globals but in tests. */
export interface Surroundings {
  isSecureContext: boolean;
  crypto?: { subtle?: unknown };
  indexedDB?: unknown;
  Worker?: unknown;
  WebSocket?: unknown;
  CompressionStream?: unknown;
  location?: { hostname: string; port: string; protocol: string };
}

const UPDATE = "Use a current Chrome, Edge, Firefox or Safari.";

/** Looks for what scorel needs before anything is started. Keys are tried by the worker, which makes them. */
export function findUnsupported(around: Surroundings): Unsupported | null {
  if (!around.isSecureContext) {
    return {
      reason: "The browser gives this page no cryptography, because it was not opened over https or from this machine.",
      advice: `Open the page over https, or from ${localAddress(around)} on the machine itself.`,
    };
  }
  if (!around.crypto?.subtle) {
    return { reason: "This browser has no WebCrypto, which keeps the keys.", advice: UPDATE };
  }
  if (!around.indexedDB) {
    return {
      reason: "This browser does not let the page store anything (no IndexedDB), so it could not keep its keys.",
      advice: "Leave private browsing, or allow this site to store data, then reload the page.",
    };
  }
  if (!around.Worker) {
    return { reason: "This browser has no module workers.", advice: UPDATE };
  }
  if (!around.WebSocket || !around.CompressionStream) {
    return { reason: "This browser lacks WebSocket or CompressionStream.", advice: UPDATE };
  }
  return null;
}

function localAddress({ location }: Surroundings): string {
  return location?.port ? `http://localhost:${location.port}` : "http://localhost";
}
