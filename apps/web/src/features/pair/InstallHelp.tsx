import { CopyButton } from "../../components/CopyButton";
import { t } from "../../i18n/pair";
import { useReadable, useScorel } from "../shared/scorel-context";
import { CommandText } from "./CommandText";

/** The commands to install scorel on a machine. */
export function InstallHelp() {
  const relayUrl = useReadable(useScorel().relayUrl);
  const steps = [
    {
      what: t("pair.installHelp.build"),
      command: "git clone https://github.com/scorel/scorel && cd scorel && make build",
    },
    { what: t("pair.installHelp.start"), command: `bin/scorel host serve --relay ${relayUrl}` },
    { what: t("pair.installHelp.pair"), command: "bin/scorel pair" },
  ];
  return (
    <details className="mt-6" data-testid="install-help">
      <summary className="touchable cursor-pointer py-2 font-medium text-sm">{t("pair.installHelp.title")}</summary>
      <ol className="mt-2 space-y-4">
        {steps.map(({ what, command }) => (
          <li key={command}>
            <p className="text-muted text-sm">{what}</p>
            <div className="mt-1 flex items-center gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
              <CommandText command={command} />
              <CopyButton text={command} label={t("pair.installHelp.copy", { command })} />
            </div>
          </li>
        ))}
      </ol>
    </details>
  );
}
