import { useRef } from "react";
import type { Host } from "../../api/contract";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { t } from "../../i18n/memory";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { useAct } from "../shared/use-act";

/** Starts a session in which the agent merges and drops notes, and opens it. */
export function ReviewNotes({ host, projectId }: { host: Host; projectId: string }) {
  const { busy, error, act } = useAct();
  // The same key for each try: a request whose answer was lost starts no second session.
  const clientKey = useRef(crypto.randomUUID());
  const review = () =>
    act("review", async () => {
      const { session } = await host.request("review_notes", { projectId, clientKey: clientKey.current });
      navigate(address.session(host.deviceId, session.id));
    });
  return (
    <>
      <Button data-testid="review-notes" disabled={busy !== null} onClick={review}>
        {t("memory.memoryList.review")}
      </Button>
      <ErrorText className="mt-2">{error}</ErrorText>
    </>
  );
}
