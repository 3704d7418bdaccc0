/** The themes of the page. */
export type Theme = "light" | "dark";

/** What is chosen in the settings: a theme, or "" for that of the system. */
export type ThemeChoice = Theme | "";

const key = "scorel.theme";

/** The background of each theme, which the browser shows around the page; the same as --c-bg. */
const bars: Record<Theme, string> = { light: "#f4f6f3", dark: "#0e1210" };

export function chosenTheme(): ThemeChoice {
  try {
    const stored = localStorage.getItem(key);
    return stored === "light" || stored === "dark" ? stored : "";
  } catch {
    return ""; // the browser lets this page store nothing
  }
}

/** Shows the choice and keeps it, if the browser stores anything. */
export function chooseTheme(choice: ThemeChoice): void {
  showTheme(choice);
  try {
    if (choice) {
      localStorage.setItem(key, choice);
    } else {
      localStorage.removeItem(key);
    }
  } catch {
    // It holds until the page is closed.
  }
}

/** Shows the page in a theme. */
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

/** Shows the chosen theme, and follows a choice that is made in another tab. */
export function followTheme(): void {
  showTheme(chosenTheme());
  addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) {
      showTheme(chosenTheme());
    }
  });
}
