import { ApiError, OfflineError } from "../../api/contract";
import { t } from "../../i18n/shared";

/** One sentence for people about anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof OfflineError) {
    return error.message || t("shared.errors.notReachable");
  }
  if (error instanceof Error && error.message) {
    return capital(error.message);
  }
  return t("shared.errors.noReason");
}

/** A host says it as programs do, in small letters; a name or a path at the beginning stays as it is. */
export function capital(text: string): string {
  return /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** True when the device refused the request, so that asking again gets the same answer. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
