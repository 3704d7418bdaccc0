import type { Device } from "../../api/contract";
import type { Tone } from "../../components/Badge";
import { t } from "../../i18n/status";
import { useReadable, useScorel } from "../shared/scorel-context";

/** The displayed presence of a device. */
export interface Presence {
  state: "removed" | "unusable" | "unknown" | "offline" | "online";
  tone: Tone;
  /** One or two words. */
  word: string;
  /** Details beyond the word; null if there are none. */
  detail: string | null;
}

/**
 * Returns the presence of a device. The relay's report is valid while this page is connected to the relay, and unknown
 * as soon as it is not.
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
