import { Select } from "../../components/Select";
import { t } from "../../i18n/inbox";
import { type Filter, type State, states } from "../route/inbox-filter";
import { projectKey } from "./sections";
import type { Machine, useEachAnswer } from "./use-machines";

const names: Record<State, () => string> = {
  "needs-you": () => t("inbox.states.needsYou"),
  running: () => t("inbox.states.running"),
  unread: () => t("inbox.states.unread"),
  pinned: () => t("inbox.states.pinned"),
  archived: () => t("inbox.states.archived"),
};

export interface FiltersProps {
  filter: Filter;
  machines: readonly Machine[];
  projects: ReturnType<typeof useEachAnswer<"list_projects">>;
  onChange: (filter: Filter) => void;
}

/** Selects which sessions are listed. */
export function Filters({ filter, machines, projects, onChange }: FiltersProps) {
  const several = machines.length > 1;
  const looked = machines.filter(({ device }) => !filter.machine || device.id === filter.machine);
  const listed = looked.flatMap(({ device }) =>
    (projects.get(device.id)?.projects ?? []).map(({ id, name }) => ({
      value: projectKey(device.id, id),
      label: several && !filter.machine ? `${name} · ${device.label}` : name,
    })),
  );
  const any = (label: string) => ({ value: "", label });
  return (
    <fieldset className="flex min-w-0 gap-2 max-sm:w-full max-sm:gap-1.5 max-sm:*:flex-auto">
      <legend className="sr-only">{t("inbox.filters.filter")}</legend>
      {several ? (
        <Select
          label={t("inbox.filters.machine")}
          data-testid="filter-machine"
          value={filter.machine ?? ""}
          onChange={({ target }) => onChange(chosen({ state: filter.state, machine: target.value }))}
          options={[
            any(t("inbox.filters.allMachines")),
            ...machines.map(({ device: { id, label } }) => ({ value: id, label })),
          ]}
        />
      ) : null}
      {listed.length > 1 || filter.project ? (
        <Select
          label={t("inbox.filters.project")}
          data-testid="filter-project"
          value={filter.project ?? ""}
          onChange={({ target }) => onChange(chosen({ ...filter, project: target.value }))}
          options={[any(t("inbox.filters.allProjects")), ...listed]}
        />
      ) : null}
      <Select
        label={t("inbox.filters.state")}
        data-testid="filter-state"
        value={filter.state ?? ""}
        onChange={({ target }) => onChange(chosen({ ...filter, state: target.value as State | "" }))}
        options={[
          any(t("inbox.filters.anyState")),
          ...states.map((state) => ({ value: state, label: names[state]() })),
        ]}
      />
    </fieldset>
  );
}

/** Returns the filter without empty parts. */
function chosen({ machine, project, state }: { [K in keyof Filter]: Filter[K] | "" | undefined }): Filter {
  return { ...(machine ? { machine } : {}), ...(project ? { project } : {}), ...(state ? { state } : {}) };
}
