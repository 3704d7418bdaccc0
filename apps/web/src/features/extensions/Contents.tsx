import type { Extension, ExtensionChange, ExtensionContents, MCPSetting } from "../../api/types";
import { t } from "../../i18n/extensions";
import { Lines, Part, Parts } from "../shared/ReviewParts";
import { sizeText } from "../shared/size-text";
import { visible } from "../shared/visible";
import { changeText, placeText } from "./words";

/** Everything that an extension holds and would run, as a person reviews it. */
export function Contents({ extension, changes = [] }: { extension: Extension; changes?: readonly ExtensionChange[] }) {
  const { contents, commit, hash } = extension;
  const { skills, commands, agents, problems } = contents;
  const named = (parts: ExtensionContents["skills"]) =>
    parts.map(({ name, description }) => visible(description ? `${name}: ${description}` : name));
  return (
    <div data-testid="extension-contents" className="mt-2 text-sm">
      {changes.length > 0 ? (
        <div data-testid="extension-changes" className="rounded-md border border-warn-line bg-warn-soft p-2">
          <p className="font-medium">{t("extensions.parts.changes")}</p>
          <div className="mt-1 max-h-48 overflow-y-auto break-words font-mono text-xs" tabIndex={-1}>
            <Lines lines={changes.map(changeText)} />
          </div>
        </div>
      ) : null}
      <Runs contents={contents} />
      <Parts>
        {skills.length > 0 ? (
          <Part name={t("extensions.parts.skills")}>
            <Lines lines={named(skills)} />
          </Part>
        ) : null}
        {commands.length > 0 ? (
          <Part name={t("extensions.parts.commands")}>
            <Lines lines={named(commands)} />
          </Part>
        ) : null}
        {agents.length > 0 ? (
          <Part name={t("extensions.parts.agents")}>
            <Lines lines={named(agents)} />
          </Part>
        ) : null}
        <Part name={t("extensions.parts.size")}>
          {t("extensions.parts.files", { count: contents.files, size: sizeText(contents.bytes) })}
        </Part>
        <Part name={t("extensions.parts.from")}>{placeText(extension)}</Part>
        {commit ? <Part name={t("extensions.parts.commit")}>{commit}</Part> : null}
        <Part name={t("extensions.parts.hash")}>{hash}</Part>
      </Parts>
      {problems?.length ? (
        <div className="mt-2 break-words text-danger">
          <p className="font-medium">{t("extensions.parts.problems")}</p>
          <Lines lines={problems.map(visible)} />
        </div>
      ) : null}
    </div>
  );
}

/** The commands of an extension, which run without being asked about. */
function Runs({ contents: { hooks, servers } }: { contents: ExtensionContents }) {
  if (hooks.length + servers.length === 0) {
    return <p className="mt-2">{t("extensions.parts.runsNothing")}</p>;
  }
  return (
    <>
      <p className="mt-2 font-medium">{t("extensions.parts.runs")}</p>
      <ul className="mt-1 space-y-2">
        {hooks.map(({ event, matcher, command, timeoutSeconds, problem }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what was fetched never changes
          <li key={i} className="rounded-md border border-line p-2">
            <p className="text-muted text-xs">
              {t("extensions.parts.hook")} ·{" "}
              {matcher ? t("extensions.parts.hookAt", { event, matcher: visible(matcher) }) : event} ·{" "}
              {t("extensions.parts.timeout", { count: timeoutSeconds })}
            </p>
            <Command text={command} problem={problem} />
          </li>
        ))}
        {servers.map(({ name, command, args, url, cwd, env, headers, shown, problem }) => (
          <li key={name} className="rounded-md border border-line p-2">
            <p className="break-words text-muted text-xs">{t("extensions.parts.server", { name: visible(name) })}</p>
            <Command text={url || [command, ...(args ?? [])].filter(Boolean).join("\n") || shown} problem={problem} />
            {cwd || env?.length || headers?.length ? (
              <Parts>
                {cwd ? <Part name={t("extensions.parts.folder")}>{visible(cwd)}</Part> : null}
                {env?.length ? (
                  <Part name={t("extensions.parts.variables")}>
                    <Lines lines={env.map(settingText)} />
                  </Part>
                ) : null}
                {headers?.length ? (
                  <Part name={t("extensions.parts.headers")}>
                    <Lines lines={headers.map(settingText)} />
                  </Part>
                ) : null}
              </Parts>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

function Command({ text, problem }: { text: string; problem: string | undefined }) {
  return (
    <>
      <p className="mt-1 whitespace-pre-wrap break-all font-mono text-xs leading-5">{visible(text)}</p>
      {problem ? <p className="mt-1 break-words text-danger">{visible(problem)}</p> : null}
    </>
  );
}

function settingText({ name, value, secret }: MCPSetting): string {
  return `${visible(name)} = ${secret ? t("extensions.parts.notShown") : visible(value)}`;
}
