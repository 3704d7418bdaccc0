import { t } from "../i18n/api";

/** Why this page cannot work, and what to do. */
export interface Unsupported {
  reason: string;
  advice: string;
}

/** The globals to check; the page's own except in tests. */
export interface Surroundings {
  isSecureContext: boolean;
  crypto?: { subtle?: unknown };
  indexedDB?: unknown;
  Worker?: unknown;
  WebSocket?: unknown;
  CompressionStream?: unknown;
  location?: { hostname: string; port: string; protocol: string };
}

/**
 * Checks for the features that scorel needs before anything is started. The worker checks key generation, since it
 * creates the keys.
 */
export function findUnsupported(around: Surroundings): Unsupported | null {
  if (!around.isSecureContext) {
    return {
      reason: t("api.support.notSecure"),
      advice: t("api.support.openSecure", { address: localAddress(around) }),
    };
  }
  if (!around.crypto?.subtle) {
    return { reason: t("api.support.noWebCrypto"), advice: t("api.support.update") };
  }
  if (!around.indexedDB) {
    return {
      reason: t("api.support.noStorage"),
      advice: t("api.support.allowStorage"),
    };
  }
  if (!around.Worker) {
    return { reason: t("api.support.noWorkers"), advice: t("api.support.update") };
  }
  if (!around.WebSocket || !around.CompressionStream) {
    return { reason: t("api.support.noWebSocket"), advice: t("api.support.update") };
  }
  return null;
}

function localAddress({ location }: Surroundings): string {
  return location?.port ? `http://localhost:${location.port}` : "http://localhost";
}
