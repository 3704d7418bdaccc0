import { CommandBox } from "../../components/CommandBox";
import { t } from "../../i18n/pair";
import { useReadable, useScorel } from "../shared/scorel-context";

/** The commands to install scorel on a machine. */
export function InstallHelp() {
  const relayUrl = useReadable(useScorel().relayUrl);
  const releases = "https://github.com/scorel/scorel/releases/latest/download";
  const steps = [
    { what: t("pair.installHelp.install"), command: `curl -fsSL ${releases}/install.sh | sh` },
    { what: t("pair.installHelp.windows"), command: `irm ${releases}/install.ps1 | iex` },
    { what: t("pair.installHelp.start"), command: `scorel host serve --relay ${relayUrl}` },
    { what: t("pair.installHelp.pair"), command: "scorel pair" },
  ];
  return (
    <details className="mt-6" data-testid="install-help">
      <summary className="touchable cursor-pointer py-2 font-medium text-sm">{t("pair.installHelp.title")}</summary>
      <ol className="mt-2 space-y-4">
        {steps.map(({ what, command }) => (
          <li key={command}>
            <p className="text-muted text-sm">{what}</p>
            <CommandBox command={command} label={t("pair.installHelp.copy", { command })} className="mt-1 bg-sunken" />
          </li>
        ))}
      </ol>
    </details>
  );
}
