import { ApiError, OfflineError } from "../../api/contract";

/** One sentence for people about anything that was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof OfflineError) {
    return error.message || "The device cannot be reached now; try again when it is online.";
  }
  if (error instanceof Error && error.message) return error.message;
  return "That did not work, and no reason was given; try again.";
}

/** True when the device refused the request, so that asking again gets the same answer. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError;
}
