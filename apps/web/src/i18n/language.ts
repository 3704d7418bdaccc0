import { speak, type Translation } from "./i18n";

/** The languages of the page, each in its own words. */
export const languages = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof languages;

/** What is chosen in the settings: a language, or "" for that of the browser. */
export type Choice = Language | "";

const key = "scorel.language";

function isLanguage(name: string | null | undefined): name is Language {
  return name === "en" || name === "zh";
}

export function chosenLanguage(): Choice {
  try {
    const stored = localStorage.getItem(key);
    return isLanguage(stored) ? stored : "";
  } catch {
    return ""; // the browser lets this page store nothing
  }
}

/** Keeps the choice. The page speaks it after it is loaded again. */
export function chooseLanguage(choice: Choice): void {
  if (choice) {
    localStorage.setItem(key, choice);
  } else {
    localStorage.removeItem(key);
  }
}

const base = (locale: string) => locale.toLowerCase().split("-")[0];

/** The chosen language, or the first one of the browser that there is; English without any. */
export function languageFor(choice: Choice, preferred: readonly string[]): Language {
  return choice || preferred.map(base).find(isLanguage) || "en";
}

/** How dates and numbers are written: as the browser prefers it for the language, if it names a region. */
export function localeFor(language: Language, preferred: readonly string[]): string {
  return preferred.find((each) => base(each) === language) ?? (language === "zh" ? "zh-CN" : language);
}

/** Makes the page speak the language that was chosen. Falls back to English where the translation does not load. */
export async function speakChosen(load = loadChinese, preferred = navigator.languages): Promise<void> {
  const language = languageFor(chosenLanguage(), preferred);
  const locale = localeFor(language, preferred);
  const words = language === "zh" ? await load().catch(() => null) : {};
  speak({ parts: {}, ...words, locale: words ? locale : "en" });
  document.documentElement.lang = words && language === "zh" ? "zh-CN" : "en";
}

async function loadChinese(): Promise<Omit<Translation, "locale">> {
  return (await import("./zh")).default;
}
