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
  return (
    <>
      {sentence(error)} <HostHelp kind={error.kind} />
    </>
  );
}

/** A link to what to do about an error of a host. It renders nothing without a kind. */
export function HostHelp({ kind }: { kind: number | undefined }) {
  const name = Object.entries(ApiKind).find(([, number]) => number === kind)?.[0] ?? "unknown";
  return kind === undefined ? null : <Help kind={name} />;
}

/** A link to the section about a kind of error or a reason, by its name. */
export function Help({ kind }: { kind: string }) {
  return (
    <a className="underline" href={`/docs/troubleshooting#${kind}`} target="_blank" rel="noreferrer">
      {t("shared.errors.help")}
    </a>
  );
}
