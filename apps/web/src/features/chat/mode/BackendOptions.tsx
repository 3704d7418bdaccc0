import { useQueryClient } from "@tanstack/react-query";
import { lazy, useEffect, useMemo, useState } from "react";
import type { Host } from "../../../api/contract";
import { CUSTOM_BACKEND, type SessionEntry, type SessionSummary } from "../../../api/types";
import { cx } from "../../../components/cx";
import { ChevronDownIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useHostQuery } from "../../shared/host-queries";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";

const BackendSheet = lazy(chunk(() => import("./BackendSheet")));

export interface BackendOptionsProps {
  host: Host;
  deviceId: string;
  session: SessionSummary;
  entries: readonly SessionEntry[];
}

/** The modes, models and other options of the program that works in a session, once it has named them. */
export function BackendOptions({ host, deviceId, session, entries }: BackendOptionsProps) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const { data } = useHostQuery(host, "get_backend", { sessionId: session.id }); // older hosts refuse it
  // What the program says of itself is in the log.
  const last = useMemo(
    () => entries.findLast((entry) => entry.type === "custom" && entry.customType === CUSTOM_BACKEND)?.id,
    [entries],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another entry, or another program, has other options.
  useEffect(() => {
    void client.invalidateQueries({ queryKey: [deviceId, "get_backend"] });
  }, [client, deviceId, last, session.backend]);
  const options = (data?.options ?? []).filter(({ choices = [] }) => choices.length > 1);
  if (!data || data.backend !== session.backend || options.length === 0) {
    return null;
  }
  return (
    <>
      <button
        type="button"
        data-testid="backend-options"
        aria-haspopup="dialog"
        onClick={() => setOpen(true)}
        className="touchable inline-flex shrink-0 items-center gap-1 rounded-md px-2 text-faint text-xs hover:bg-sunken hover:text-ink"
      >
        <span className={cx("font-medium", data.decides ? "text-danger" : "text-muted")}>
          {t("chat.backend.options")}
        </span>
        <ChevronDownIcon />
      </button>
      <LazyPart onClose={() => setOpen(false)}>
        {open ? (
          <BackendSheet
            host={host}
            sessionId={session.id}
            options={options}
            decides={data.decides ?? false}
            name={session.backend ?? ""}
            onClose={() => setOpen(false)}
          />
        ) : null}
      </LazyPart>
    </>
  );
}
