import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { Button } from "../../components/Button";
import { t } from "../../i18n/changes";
import { withHelp } from "../shared/with-help";

/** Shows why a host did not answer. An older host does not support the request. */
export function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof ApiError && error.kind === ApiKind.unknown_request) {
    return <p role="alert">{t("changes.update")}</p>;
  }
  return (
    <div role="alert" className="space-y-2">
      <p>{withHelp(error)}</p>
      <Button onClick={onRetry}>{t("changes.retry")}</Button>
    </div>
  );
}
