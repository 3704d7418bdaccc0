import type { Mode } from "../../api/types";
import { Select } from "../../components/Select";
import { t } from "../../i18n/start";
import { BackendSelect } from "../backends/BackendSelect";
import { nameOfMode } from "../shared/modes";
import type { Choices } from "./use-choices";

/** The agent, the permissions and the folder of a new session. */
export function StartChoices({ choices }: { choices: Choices }) {
  const { agents, agent, setAgent, modes, mode, setMode, worktree, setWorktree } = choices;
  const { backends, backend, setBackend } = choices;
  const unknown = agent !== "" && !agents.some(({ name }) => name === agent);
  return (
    <div className="safe-x mx-auto flex w-full max-w-3xl flex-wrap gap-2 pt-2 pb-1">
      {agents.length > 0 || unknown ? (
        <Select
          label={t("start.startChoices.agent")}
          data-testid="start-agent"
          value={agent}
          onChange={(event) => setAgent(event.target.value)}
          options={[
            { value: "", label: t("start.startChoices.defaultAgent") },
            ...(unknown ? [{ value: agent, label: agent }] : []),
            ...agents.map(({ name }) => ({ value: name, label: name })),
          ]}
        />
      ) : null}
      {backends.length > 0 ? (
        <span className="inline-flex max-w-full items-center">
          <BackendSelect
            label={t("start.startChoices.backend")}
            data-testid="start-backend"
            own={t("start.startChoices.ownBackend")}
            backends={backends}
            value={backend}
            onChange={setBackend}
          />
        </span>
      ) : null}
      {modes.length > 0 ? (
        <Select
          label={t("start.startChoices.permissions")}
          data-testid="start-mode"
          value={mode}
          onChange={(event) => setMode(event.target.value as Mode | "")}
          options={[
            { value: "", label: t("start.startChoices.defaultPermissions") },
            ...modes.map((each) => ({ value: each, label: nameOfMode(each) })),
          ]}
        />
      ) : null}
      <Select
        label={t("start.startChoices.workIn")}
        data-testid="start-worktree"
        value={worktree ? "worktree" : ""}
        onChange={(event) => setWorktree(event.target.value !== "")}
        options={[
          { value: "", label: t("start.startChoices.projectFolder") },
          { value: "worktree", label: t("start.startChoices.newWorktree") },
        ]}
      />
      {worktree ? <p className="w-full text-muted text-sm">{t("start.startChoices.worktreeExplained")}</p> : null}
    </div>
  );
}
