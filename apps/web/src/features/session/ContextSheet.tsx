import type { Host } from "../../api/contract";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/session";
import { SessionContext } from "./SessionContext";

export interface ContextSheetProps {
  host: Host;
  sessionId: string;
  onClose: () => void;
}

/** The context of a session by use: system prompt, tools and messages, with their tokens. */
export default function ContextSheet({ host, sessionId, onClose }: ContextSheetProps) {
  return (
    <Sheet title={t("session.contextMeter.title")} onClose={onClose}>
      <p className="text-muted text-sm">{t("session.contextMeter.explained")}</p>
      <SessionContext host={host} sessionId={sessionId} />
    </Sheet>
  );
}
