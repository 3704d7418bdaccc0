/** The themes of the page. */
export type Theme = "light" | "dark";

/** The choice in the settings: a theme, or "" for the system's. */
export type ThemeChoice = Theme | "";

const key = "scorel.theme";

/** The background of each theme, which the browser shows around the page; the same as --c-bg. */
const bars: Record<Theme, string> = { light: "#f4f6f3", dark: "#0e1210" };

export function chosenTheme(): ThemeChoice {
  try {
    const stored = localStorage.getItem(key);
    return stored === "light" || stored === "dark" ? stored : "";
  } catch {
    return ""; // the browser does not allow this page to store anything
  }
}

/** Shows the choice and stores it, if the browser allows that. */
export function chooseTheme(choice: ThemeChoice): void {
  showTheme(choice);
  try {
    if (choice) {
      localStorage.setItem(key, choice);
    } else {
      localStorage.removeItem(key);
    }
  } catch {
    // The choice lives until the page is closed.
  }
}

/** Applies a theme to the page. */
export function showTheme(choice: ThemeChoice): void {
  const root = document.documentElement;
  if (choice) {
    root.dataset.theme = choice;
  } else {
    delete root.dataset.theme;
  }
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    meta.content = bars[choice || (meta.getAttribute("media")?.includes("dark") ? "dark" : "light")];
  }
}

/** Applies the chosen theme, and follows a choice made in another tab. */
export function followTheme(): void {
  showTheme(chosenTheme());
  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) {
      showTheme(chosenTheme());
    }
  });
}
