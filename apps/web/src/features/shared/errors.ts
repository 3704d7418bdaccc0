import { ApiError, OfflineError } from "../../api/contract";

/** One sentence for people about anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof OfflineError) {
    return error.message || "The device cannot be reached now; try again when it is online.";
  }
  if (error instanceof Error && error.message) return capital(error.message);
  return "That did not work, and no reason was given; try again.";
}

/** A host says it as programs do, in small letters; a name or a path at the beginning stays as it is. */
function capital(text: string): string {
  return /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** True when the device refused the request, so that asking again gets the same answer. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
