import { ApiError, OfflineError } from "../../api/contract";
import { t } from "../../i18n/shared";

/** Returns one sentence for people about any thrown value. */
export function sentence(error: unknown): string {
  if (error instanceof OfflineError) {
    return error.message || t("shared.errors.notReachable");
  }
  if (error instanceof Error && error.message) {
    return capital(error.message);
  }
  return t("shared.errors.noReason");
}

/** Capitalizes a host's message, which begins with a small letter; a name or a path at the beginning is unchanged. */
export function capital(text: string): string {
  return /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** Reports whether the device rejected the request, so that retrying gets the same answer. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
