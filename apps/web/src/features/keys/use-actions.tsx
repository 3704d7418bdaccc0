import { ArchiveIcon, InboxIcon, LinkIcon, QuestionIcon, RefreshIcon, SettingsIcon } from "../../components/icons";
import { icon } from "../../components/shell-icons";
import { t } from "../../i18n/keys";
import { type Choice, chooseLanguage, chosenLanguage, languages } from "../../i18n/language";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { useSettingsSheet } from "../settings/settings-context";
import { chooseTheme, chosenTheme, type ThemeChoice } from "../settings/theme";
import { openShortcuts } from "../shared/overlay";
import type { Entry } from "./entries";

const ThemeIcon = icon("Theme", <path d="M10 3a7 7 0 1 0 0 14zm0 0a7 7 0 0 1 0 14" />);
const LanguageIcon = icon(
  "Language",
  <path d="M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm-7 7h14M10 3c-4 4-4 10 0 14 4-4 4-10 0-14" />,
);

/** The actions available everywhere. */
export function useActions(): Entry[] {
  const openSettings = useSettingsSheet();
  const own = { kind: "actions", first: true } as const;
  return [
    {
      ...{ ...own, id: "inbox", title: t("keys.actions.inbox"), icon: <InboxIcon /> },
      others: t("keys.words.inbox"),
      run: () => navigate("/"),
    },
    {
      ...{ ...own, id: "archived", title: t("keys.actions.archived"), icon: <ArchiveIcon />, first: false },
      run: () => navigate(address.inbox({ state: "archived" })),
    },
    {
      ...{ ...own, id: "settings", title: t("keys.actions.settings"), icon: <SettingsIcon />, run: openSettings },
      others: t("keys.words.settings"),
    },
    {
      ...{ ...own, id: "pair", title: t("keys.actions.pair"), icon: <LinkIcon /> },
      others: t("keys.words.pair"),
      run: () => navigate("/pair"),
    },
    {
      ...{ ...own, id: "connection", title: t("keys.actions.connection"), icon: <RefreshIcon />, first: false },
      others: t("keys.words.connection"),
      run: () => navigate("/connection"),
    },
    {
      ...{ ...own, id: "shortcuts", title: t("keys.actions.shortcuts"), icon: <QuestionIcon />, keys: ["?"] },
      run: openShortcuts,
    },
    ...themes(),
    ...otherLanguages(),
  ];
}

/** Returns the themes other than the chosen one, the most likely choice first. */
function themes(): Entry[] {
  const chosen = chosenTheme();
  const titles: Record<ThemeChoice, string> = {
    dark: t("keys.actions.dark"),
    light: t("keys.actions.light"),
    "": t("keys.actions.systemTheme"),
  };
  const others = (Object.keys(titles) as ThemeChoice[]).filter((theme) => theme !== chosen);
  return others.map((theme, i) => ({
    id: `theme/${theme}`,
    kind: "actions",
    title: titles[theme],
    icon: <ThemeIcon />,
    others: t("keys.words.theme"),
    first: i === 0,
    run: () => chooseTheme(theme),
  }));
}

function otherLanguages(): Entry[] {
  const chosen = chosenLanguage();
  const all: [Choice, string][] = [
    ...(Object.entries(languages) as [Choice, string][]).map(([code, name]): [Choice, string] => [
      code,
      t("keys.actions.language", { name }),
    ]),
    ["", t("keys.actions.systemLanguage")],
  ];
  return all
    .filter(([code]) => code !== chosen)
    .map(([code, title]) => ({
      id: `language/${code}`,
      kind: "actions",
      title,
      icon: <LanguageIcon />,
      others: t("keys.words.language"),
      run: () => {
        chooseLanguage(code);
        location.reload();
      },
    }));
}
