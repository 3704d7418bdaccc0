import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { Button } from "../../components/Button";
import { ScrollText } from "../../components/ScrollText";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/memory";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { withHelp } from "../shared/with-help";

/** The journal of a project: one line for each turn, a day at a time. */
export function Journal({ host, projectId }: { host: Host; projectId: string }) {
  // "" is the last day.
  const [day, setDay] = useState("");
  const { data, error } = useHostQuery(host, "get_journal", day ? { projectId, day } : { projectId });
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const at = data ? data.days.indexOf(data.day) : -1;
  const older = data?.days[at + 1];
  const newer = at > 0 ? data?.days[at - 1] : undefined;
  return (
    <Section title={t("memory.journal.title")} error={error ? withHelp(error) : null}>
      <p className="mt-1 text-muted text-sm">{t("memory.journal.explained")}</p>
      {data || error ? null : <Skeleton label={t("memory.journal.loading")} rows={2} className="mt-2" />}
      {data && data.text === "" ? <p className="mt-2 text-sm">{t("memory.journal.none")}</p> : null}
      {data && data.text !== "" ? (
        <div className="mt-2 rounded-md border border-line bg-sunken p-2 text-xs">
          <ScrollText data-testid="journal" label={t("memory.journal.day", { day: data.day })} text={data.text} />
        </div>
      ) : null}
      {older || newer ? (
        <div className="-ml-3 mt-1 flex gap-x-1">
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="journal-older"
            disabled={!older}
            onClick={() => older && setDay(older)}
          >
            {t("memory.journal.older")}
          </Button>
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="journal-newer"
            disabled={!newer}
            onClick={() => newer && setDay(newer)}
          >
            {t("memory.journal.newer")}
          </Button>
        </div>
      ) : null}
    </Section>
  );
}
