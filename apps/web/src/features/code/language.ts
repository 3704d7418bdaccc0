/** Returns the highlighter's language for a file, by its extension. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "dockerfile" || name === "makefile") {
    return name;
  }
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "";
}
