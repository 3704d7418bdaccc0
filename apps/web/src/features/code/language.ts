/** The language of a file for the highlighter, by its ending. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "dockerfile" || name === "makefile") {
    return name;
  }
  return name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "";
}
