import { type FormEvent, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type HostInfo, type SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/guests";
import { moment } from "../access/words";
import { isRefusal } from "../shared/errors";
import { useHostQuery } from "../shared/host-queries";
import { useAct } from "../shared/use-act";
import { type Created, CreatedLink } from "./CreatedLink";
import { createLink, narrowness, sharePaths, type Wanted, wanted } from "./guest-link";

export interface NewLinkProps {
  host: Host;
  info: HostInfo | null;
  session: SessionSummary;
  /** The link that was revoked last: it is not shown any longer. */
  revoked: string | null;
  onCreated: () => Promise<unknown>;
}

const hour = 60 * 60_000;
const lifetimes = [1, 8, 24, 7 * 24, 30 * 24].map((hours) => hours * hour);

/** Creates a guest link and shows it. Only its public half is stored, so it is shown this once. */
export function NewLink({ host, info, session, revoked, onCreated }: NewLinkProps) {
  const listed = useHostQuery(host, "list_paths", {}).data?.paths;
  const paths = listed ? sharePaths(listed) : null;
  const [name, setName] = useState("");
  const [lifetime, setLifetime] = useState(24 * hour);
  const [chosen, setChosen] = useState("");
  const [created, setCreated] = useState<Created | null>(null);
  const { busy, error, act } = useAct();
  const asked = useRef<Wanted | null>(null);
  const path = paths?.find(({ url }) => url === chosen) ?? paths?.[0];
  const end = info?.limits?.expiresAt;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!path) {
      return;
    }
    const label = name.trim() || t("guests.new.guest");
    void act("create", async () => {
      const same = asked.current?.label === label && asked.current.lifetime === lifetime;
      const want = same && asked.current ? asked.current : wanted(session.id, label, lifetime, end);
      asked.current = want; // an answer that was lost is asked for again, not a second link
      const { url, client } = await createLink(host, want, path.url).catch(explain);
      asked.current = null;
      setCreated({ url, client, narrow: narrowness(path) });
      setName("");
      await onCreated();
    });
  };
  return (
    <>
      <form onSubmit={submit} noValidate className="mt-4 space-y-3">
        <TextField
          label={t("guests.new.name")}
          placeholder={t("guests.new.guest")}
          value={name}
          maxLength={64}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
          data-testid="guest-name"
        />
        <Field label={t("guests.new.valid")}>
          <Select
            label={t("guests.new.valid")}
            data-testid="guest-lifetime"
            value={String(lifetime)}
            options={lifetimes.map((each) => ({ value: String(each), label: lifetimeText(each) }))}
            onChange={(event) => setLifetime(Number(event.target.value))}
          />
          {end ? <p className="text-muted text-sm">{t("guests.new.ownEnd", { time: moment(end) })}</p> : null}
        </Field>
        {paths && paths.length > 1 ? (
          <Field label={t("guests.new.server")}>
            <Select
              label={t("guests.new.server")}
              data-testid="guest-path"
              className="max-w-full"
              value={path?.url ?? ""}
              options={paths.map(({ url }) => ({ value: url, label: url }))}
              onChange={(event) => setChosen(event.target.value)}
            />
          </Field>
        ) : null}
        {paths?.length === 0 ? <p className="text-sm text-warn">{t("guests.new.noPath")}</p> : null}
        <Button type="submit" tone="primary" data-testid="guest-create" busy={busy !== null} disabled={!path}>
          {t("guests.new.create")}
        </Button>
        <ErrorText>{error}</ErrorText>
      </form>
      {created && created.client.id !== revoked ? <CreatedLink {...created} /> : null}
    </>
  );
}

function Field({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <p className="mb-1 font-medium text-sm">{label}</p>
      <div className="flex flex-wrap items-center gap-2">{children}</div>
    </div>
  );
}

function lifetimeText(lifetime: number): string {
  const hours = lifetime / hour;
  return hours < 24 ? t("guests.new.hours", { count: hours }) : t("guests.new.days", { count: hours / 24 });
}

function explain(cause: unknown): never {
  throw isRefusal(cause) && cause.kind === ApiKind.unknown_request ? new Error(t("guests.new.old")) : cause;
}
