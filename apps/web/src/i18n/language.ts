import { speak, type Translation } from "./i18n";

/** The languages of the page, each by its own name. */
export const languages = { en: "English", zh: "中文" } as const;
export type Language = keyof typeof languages;

/** The choice in the settings: a language, or "" for the browser's. */
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
    return ""; // the browser does not allow this page to store anything
  }
}

/** Stores the choice, which takes effect when the page is loaded again. */
export function chooseLanguage(choice: Choice): void {
  if (choice) {
    localStorage.setItem(key, choice);
  } else {
    localStorage.removeItem(key);
  }
}

const base = (locale: string) => locale.toLowerCase().split("-")[0];

/** Returns the chosen language, or the first supported one of the browser; English if there is none. */
export function languageFor(choice: Choice, preferred: readonly string[]): Language {
  return choice || preferred.map(base).find(isLanguage) || "en";
}

/** Returns the locale of dates and numbers: the browser's preferred one for the language, if it names a region. */
export function localeFor(language: Language, preferred: readonly string[]): string {
  return preferred.find((each) => base(each) === language) ?? (language === "zh" ? "zh-CN" : language);
}

/** Sets the page to the chosen language. Falls back to English if the translation does not load. */
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
