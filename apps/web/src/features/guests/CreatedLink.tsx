import { useEffect, useRef } from "react";
import type { Client } from "../../api/types";
import { CopyButton } from "../../components/CopyButton";
import { t } from "../../i18n/guests";
import { untilWhen } from "../access/words";
import { useNow } from "../shared/time";
import type { narrowness } from "./guest-link";

export interface Created {
  url: string;
  client: Client;
  narrow: ReturnType<typeof narrowness>;
}

/** A link that was just created, to be copied. */
export function CreatedLink({ url, client, narrow }: Created) {
  const field = useRef<HTMLInputElement>(null);
  const now = useNow(60_000);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new link is selected
  useEffect(() => field.current?.select(), [url]);
  return (
    <section
      aria-label={t("guests.created.title")}
      className="mt-4 rounded-md border border-accent bg-sunken px-3 py-2.5"
    >
      <div role="status">
        <h3 className="font-medium text-sm">{t("guests.created.ready", { label: client.label })}</h3>
      </div>
      <div className="mt-1 flex items-center gap-1">
        <input
          ref={field}
          readOnly
          aria-label={t("guests.created.title")}
          data-testid="guest-url"
          value={url}
          onFocus={(event) => event.target.select()}
          className="touchable min-w-0 flex-1 truncate rounded-md border border-line bg-surface px-2 py-1 font-mono text-base sm:text-xs"
        />
        <CopyButton text={url} label={t("guests.created.copy")} />
      </div>
      <p className="mt-1.5 text-muted text-sm">
        {untilWhen(client, now)}. {t("guests.created.once")}
      </p>
      {narrow ? <p className="mt-1.5 text-sm text-warn">{narrowText(narrow)}</p> : null}
    </section>
  );
}

function narrowText(narrow: "machine" | "insecure"): string {
  return narrow === "machine" ? t("guests.created.machineOnly") : t("guests.created.insecure");
}
