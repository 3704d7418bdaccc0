import { useId } from "react";
import type { Client, HostInfo, Project } from "../../api/types";
import { cx } from "../../components/cx";
import { t } from "../../i18n/access";
import { isLimited } from "../shared/grants";
import type { Choice } from "./limits";

export interface ProjectChoiceProps {
  client: Client;
  projects: readonly Project[];
  info: HostInfo | null;
  choice: Choice;
  onChange: (part: Partial<Choice>) => void;
}

/** A choice between all projects of the host and some of them. */
export function ProjectChoice({ client, projects, info, choice, onChange }: ProjectChoiceProps) {
  const hint = hintOf(client, info, choice);
  const name = useId();
  return (
    <section aria-label={t("access.limits.projects")}>
      <h3 className="font-medium text-sm">{t("access.limits.projects")}</h3>
      <Option
        kind="radio"
        name={name}
        testId="projects-all"
        label={t("access.limits.all")}
        checked={choice.all}
        disabled={isLimited(info)}
        onChange={() => onChange({ all: true })}
      />
      <Option
        kind="radio"
        name={name}
        testId="projects-some"
        label={t("access.limits.some")}
        checked={!choice.all}
        disabled={client.grants.includes("shell") || projects.length === 0}
        onChange={() => onChange({ all: false })}
      />
      {choice.all ? null : (
        <ul className="ml-7">
          {projects.map(({ id, name, path }) => (
            <li key={id}>
              <Option
                kind="checkbox"
                testId="project-choice"
                label={name}
                detail={path}
                checked={choice.projects.includes(id)}
                onChange={(on) =>
                  onChange({ projects: on ? [...choice.projects, id] : choice.projects.filter((each) => each !== id) })
                }
              />
            </li>
          ))}
        </ul>
      )}
      <p className="mt-1 text-muted text-sm">{hint}</p>
    </section>
  );
}

function hintOf(client: Client, info: HostInfo | null, choice: Choice): string {
  if (client.grants.includes("shell")) {
    return t("access.limits.someNotShell");
  }
  if (!choice.all && choice.projects.length === 0) {
    return t("access.limits.chooseOne");
  }
  return isLimited(info) ? t("access.limits.onlyOwn") : t("access.limits.projectsHint");
}

interface OptionProps {
  kind: "radio" | "checkbox";
  /** The name of the group of radio buttons. */
  name?: string;
  label: string;
  detail?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (on: boolean) => void;
  testId: string;
}

function Option({ kind, name, label, detail, checked, disabled = false, onChange, testId }: OptionProps) {
  const id = useId();
  return (
    <label
      htmlFor={id}
      className={cx(
        "touchable flex min-w-0 items-center gap-3 text-sm",
        disabled ? "cursor-not-allowed text-faint" : "cursor-pointer",
      )}
    >
      <input
        id={id}
        type={kind}
        name={name}
        data-testid={testId}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        className="size-4 shrink-0 accent-accent"
      />
      <span className="min-w-0 py-1">
        <bdi className="block truncate">{label}</bdi>
        {detail ? <span className="block truncate font-mono text-faint text-xs">{detail}</span> : null}
      </span>
    </label>
  );
}
