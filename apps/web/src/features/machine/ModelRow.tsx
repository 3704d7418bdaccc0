import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Requests, SavedModel } from "../../api/types";
import { Badge } from "../../components/Badge";
import { t } from "../../i18n/machine";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useLostFocus } from "../shared/lost-focus";
import { RowAction } from "../shared/RowAction";
import { useAct } from "../shared/use-act";

export interface ModelRowProps {
  host: Host;
  name: string;
  /** null if it cannot be changed here. */
  saved: SavedModel | null;
  isDefault: boolean;
  /** Whether the default can be chosen here. */
  mayChoose: boolean;
  /** Absent if it can only be removed. */
  onEdit?: () => void;
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
}

/** A model: test it, choose it as the default, and change or remove it if it was added here. */
export function ModelRow({ host, name, saved, isDefault, mayChoose, onEdit, onDone }: ModelRowProps) {
  const [removing, setRemoving] = useState(false);
  const [tested, setTested] = useState<Requests["test_model"]["response"] | null>(null);
  const { busy, error, act } = useAct();
  const first = useLostFocus<HTMLButtonElement>();
  const test = () =>
    act("test", async () => {
      setTested(null);
      setTested(await host.request("test_model", { name }));
    });
  const choose = () =>
    act("choose", async () => {
      await host.request("set_default_model", { name });
      await onDone(t("machine.modelRow.chosen", { name }));
    });
  const problem = error ?? tested?.problem ?? saved?.problem;
  const used = !saved?.problem;
  return (
    <li data-testid="model" className="flex flex-wrap items-center gap-x-2 py-1 pr-1 pl-3">
      <p className="flex min-w-0 grow flex-wrap items-center gap-x-2">
        <bdi className="min-w-0 break-all font-mono text-xs">{name}</bdi>
        {isDefault ? <Badge tone="accent">{t("machine.modelRow.default")}</Badge> : null}
      </p>
      <div className="ml-auto flex flex-wrap">
        {used ? (
          <RowAction
            ref={first}
            testId="model-test"
            label={t("machine.modelRow.testNamed", { name })}
            busy={busy === "test"}
            onClick={test}
          >
            {t("machine.modelRow.test")}
          </RowAction>
        ) : null}
        {used && mayChoose && !isDefault ? (
          <RowAction
            testId="model-default"
            label={t("machine.modelRow.makeDefaultNamed", { name })}
            busy={busy === "choose"}
            onClick={choose}
          >
            {t("machine.modelRow.makeDefault")}
          </RowAction>
        ) : null}
        {saved && onEdit ? (
          <RowAction testId="model-edit" label={t("machine.modelRow.editNamed", { name })} onClick={onEdit}>
            {t("machine.savedProvider.edit")}
          </RowAction>
        ) : null}
        {saved ? (
          <RowAction
            testId="model-remove"
            label={t("machine.modelRow.removeNamed", { name })}
            onClick={() => setRemoving(true)}
          >
            {t("machine.savedProvider.remove")}
          </RowAction>
        ) : null}
      </div>
      <p role="status" className="w-full text-accent text-sm not-empty:pb-2">
        {tested?.ok ? t("machine.modelRow.works", { name, duration: tested.ms }) : null}
      </p>
      {problem ? (
        <p role="alert" data-testid="model-problem" className="w-full break-words pr-2 pb-2 text-danger text-sm">
          {problem}
        </p>
      ) : null}
      {removing && saved ? (
        <ConfirmSheet
          title={t("machine.modelRow.removeTitle", { name })}
          confirm={t("machine.savedProvider.remove")}
          onConfirm={async () => {
            await host.request("remove_model", { name, version: saved.version });
            await onDone(t("machine.modelRow.removed", { name }));
          }}
          onClose={() => setRemoving(false)}
        >
          {t("machine.modelRow.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </li>
  );
}
