import { useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Extension, type HostInfo } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/extensions";
import { AddButton } from "../shared/AddButton";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { isRefusal } from "../shared/errors";
import { may } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { AddExtension, type Fetched } from "./AddExtension";
import { ExtensionCard } from "./ExtensionCard";
import { ReviewExtension } from "./ReviewExtension";

export interface ExtensionListProps {
  host: Host;
  info: HostInfo | null;
  /** If absent, only the extensions for every project are shown. */
  projectId?: string;
}

/** The extensions of a project or of all projects. One is used only after a person has reviewed it. */
export default function ExtensionList({ host, info, projectId }: ExtensionListProps) {
  const where = projectId ? { projectId } : {};
  const { data, error, refetch } = useHostQuery(host, "list_extensions", where);
  const { busy, error: failed, done, setDone, change } = useChange(refetch);
  const [adding, setAdding] = useState(false);
  const [fetched, setFetched] = useState<Fetched | null>(null);
  const [removing, setRemoving] = useState<Extension | null>(null);
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const mayFetch = info?.grants.includes("shell") ?? false;
  const decide = ({ name, hash }: Extension, allow: boolean) =>
    change(name, async () => {
      await host.request("decide_extension", { projectId: projectId ?? "", name, hash, allow });
      return allow ? t("extensions.list.allowed", { name }) : t("extensions.list.denied", { name });
    });
  const enable = ({ name }: Extension, enabled: boolean) =>
    change(name, async () => {
      await host.request("set_extension_enabled", { ...where, name, enabled });
      return enabled ? t("extensions.list.enabled", { name }) : t("extensions.list.disabled", { name });
    });
  const update = ({ name }: Extension) =>
    change(`update ${name}`, async () => {
      const found = await host.request("fetch_extension", { name });
      if (found.replaces === found.extension.hash) {
        return t("extensions.list.unchanged", { name });
      }
      setFetched(found);
      return null;
    });
  const review = fetched ? (
    <ReviewExtension
      {...{ host, ...where, fetched }}
      onDone={async (what) => {
        await refetch();
        setFetched(null);
        setAdding(false);
        setDone(what);
      }}
      onCancel={() => {
        setFetched(null);
        setAdding(false);
      }}
    />
  ) : null;
  return (
    <Section title={t("extensions.list.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("extensions.list.explained")}</p>
      {data?.problems?.map((problem) => (
        <p key={problem} className="mt-1 break-words text-danger text-sm">
          {problem}
        </p>
      ))}
      {data || error ? null : <Skeleton label={t("extensions.list.loading")} rows={2} className="mt-2" />}
      {data?.extensions.length === 0 && !adding ? <p className="mt-2 text-sm">{t("extensions.list.none")}</p> : null}
      <ul className="mt-2 space-y-2 empty:mt-0">
        {data?.extensions.map((extension) => (
          <li key={`${extension.source} ${extension.name}`}>
            <ExtensionCard
              {...{ extension, busy, mayFetch, mayLoosen: may(info, "approve") }}
              onDecide={(allow) => decide(extension, allow)}
              onEnable={(enabled) => enable(extension, enabled)}
              onUpdate={() => update(extension)}
              onRemove={() => setRemoving(extension)}
            />
          </li>
        ))}
      </ul>
      {review ??
        (adding ? (
          <AddExtension host={host} onFetched={setFetched} onCancel={() => setAdding(false)} />
        ) : mayFetch && data ? (
          <AddButton
            data-testid="extension-add"
            onClick={() => {
              setDone(null);
              setAdding(true);
            }}
          >
            {t("extensions.list.add")}
          </AddButton>
        ) : info && !mayFetch ? (
          <p className="mt-2 text-muted text-sm">{t("extensions.list.needsShell")}</p>
        ) : null)}
      {removing ? (
        <ConfirmSheet
          title={t("extensions.list.removeTitle", { name: removing.name })}
          confirm={t("extensions.card.remove")}
          onConfirm={async () => {
            await host.request("delete_extension", { name: removing.name, hash: removing.hash });
            await refetch();
            setDone(t("extensions.list.removed", { name: removing.name }));
          }}
          onClose={() => setRemoving(null)}
        >
          {t("extensions.list.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </Section>
  );
}
