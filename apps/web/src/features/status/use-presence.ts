import type { Device } from "../../api/contract";
import type { Tone } from "../../components/Badge";
import { t } from "../../i18n/status";
import { useReadable, useScorel } from "../shared/scorel-context";

/** What a page says of a device. */
export interface Presence {
  state: "removed" | "unusable" | "unknown" | "offline" | "online";
  tone: Tone;
  /** One or two words. */
  word: string;
  /** More than the word says; null where the word says all. */
  detail: string | null;
}

/**
 * The presence of a device. What the relay said of it holds while this page is connected to the relay, and is unknown
 * from the moment that it is not.
 */
export function usePresence(device: Device): Presence {
  const link = useReadable(useScorel().link);
  if (device.revoked) {
    return { state: "removed", tone: "danger", word: t("status.presence.removed"), detail: null };
  }
  if (device.problem) {
    return { state: "unusable", tone: "danger", word: t("status.presence.notUsable"), detail: device.problem };
  }
  if (link.state !== "online" || device.untold || device.away) {
    const was = device.online ? t("status.presence.wasOnline") : t("status.presence.wasOffline");
    const detail = device.untold ? t("status.presence.notKnown") : was;
    return { state: "unknown", tone: "neutral", word: t("status.presence.unknown"), detail };
  }
  return device.online
    ? { state: "online", tone: "accent", word: t("status.presence.online"), detail: null }
    : { state: "offline", tone: "neutral", word: t("status.presence.offline"), detail: null };
}
