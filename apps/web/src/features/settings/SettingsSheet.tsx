import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { Select } from "../../components/Select";
import { Sheet } from "../../components/Sheet";
import { TextField } from "../../components/TextField";
import { type Choice, chooseLanguage, chosenLanguage, languages } from "../../i18n/language";
import { t } from "../../i18n/settings";
import { useReadable, useScorel } from "../shared/scorel-context";
import { withHelp } from "../shared/with-help";
import { chooseTheme, chosenTheme, type ThemeChoice } from "./theme";

export interface SettingsSheetProps {
  onClose: () => void;
  /** Opens the page that checks the connection. */
  onCheck: () => void;
}

export function SettingsSheet({ onClose, onCheck }: SettingsSheetProps) {
  const scorel = useScorel();
  const me = useReadable(scorel.me);
  return (
    <Sheet title={t("settings.settingsSheet.settings")} onClose={onClose}>
      <RelayForm onDone={onClose} />
      <ThemeField />
      <LanguageField />
      <section className="mt-6 border-line border-t pt-4">
        <h3 className="font-medium text-sm">{t("settings.settingsSheet.connection")}</h3>
        <p className="mt-1 text-muted text-sm">{t("settings.settingsSheet.connectionExplained")}</p>
        <Button data-testid="settings-connection" className="mt-2" onClick={onCheck}>
          {t("settings.settingsSheet.checkTheConnection")}
        </Button>
      </section>
      <section className="mt-6 border-line border-t pt-4">
        <h3 className="font-medium text-sm">{t("settings.settingsSheet.thisBrowser")}</h3>
        {me ? (
          <>
            <p className="mt-1 text-muted text-sm">{me.label}</p>
            <div className="flex items-center gap-1">
              <code className="min-w-0 flex-1 break-all font-mono text-faint text-xs">{me.id}</code>
              <CopyButton text={me.id} label={t("settings.settingsSheet.copyId")} />
            </div>
            <p className="mt-1 text-muted text-sm">{t("settings.settingsSheet.keysExplained")}</p>
          </>
        ) : (
          <p className="mt-1 text-muted text-sm">{t("settings.settingsSheet.creatingKeys")}</p>
        )}
      </section>
    </Sheet>
  );
}

function ThemeField() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (choice: ThemeChoice) => {
    chooseTheme(choice);
    setTheme(choice);
  };
  return (
    <section className="mt-6 border-line border-t pt-4">
      <h3 className="mb-2 font-medium text-sm">{t("settings.settingsSheet.theme")}</h3>
      <Select
        label={t("settings.settingsSheet.theme")}
        data-testid="settings-theme"
        value={theme}
        onChange={(event) => choose(event.target.value as ThemeChoice)}
        options={[
          { value: "", label: t("settings.settingsSheet.systemTheme") },
          { value: "light", label: t("settings.settingsSheet.light") },
          { value: "dark", label: t("settings.settingsSheet.dark") },
        ]}
      />
    </section>
  );
}

function LanguageField() {
  return (
    <section className="mt-6 border-line border-t pt-4">
      <h3 className="font-medium text-sm">{t("settings.settingsSheet.language")}</h3>
      <p className="mt-1 mb-2 text-muted text-sm">{t("settings.settingsSheet.languageExplained")}</p>
      <Select
        label={t("settings.settingsSheet.language")}
        data-testid="settings-language"
        value={chosenLanguage()}
        onChange={(event) => {
          chooseLanguage(event.target.value as Choice);
          location.reload();
        }}
        options={[
          { value: "", label: t("settings.settingsSheet.systemLanguage") },
          ...Object.entries(languages).map(([value, label]) => ({ value, label })),
        ]}
      />
    </section>
  );
}

function RelayForm({ onDone }: { onDone: () => void }) {
  const scorel = useScorel();
  const current = useReadable(scorel.relayUrl);
  const [url, setUrl] = useState(current);
  const [error, setError] = useState<ReactNode>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await scorel.setRelayUrl(url.trim());
      onDone();
    } catch (cause) {
      setError(withHelp(cause));
      setBusy(false);
    }
  };
  return (
    <form onSubmit={submit} noValidate>
      <TextField
        label={t("settings.settingsSheet.relayAddress")}
        mono
        inputMode="url"
        autoComplete="off"
        spellCheck={false}
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        error={error}
        hint={t("settings.settingsSheet.relayExplained")}
      />
      <Button type="submit" tone="primary" className="mt-3" busy={busy} disabled={url.trim() === current}>
        {t("settings.settingsSheet.useThisRelay")}
      </Button>
    </form>
  );
}
