import type { ReactNode } from "react";
import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { t } from "../../i18n/shared";
import { sentence } from "./errors";

/** Returns the sentence about an error and, for a kind that a host gave, a link to what to do about it. */
export function withHelp(error: unknown): ReactNode {
  if (!(error instanceof ApiError)) {
    return sentence(error);
  }
  const kind = Object.entries(ApiKind).find(([, number]) => number === error.kind)?.[0] ?? "unknown";
  return (
    <>
      {sentence(error)}{" "}
      <a className="underline" href={`/docs/troubleshooting#${kind}`} target="_blank" rel="noreferrer">
        {t("shared.errors.help")}
      </a>
    </>
  );
}
