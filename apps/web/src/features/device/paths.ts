export interface Crumb {
  name: string;
  path: string;
}

/**
 * Returns the folders of an absolute path, the root first. It accepts POSIX paths and Windows paths with a drive
 * letter: the host may run either.
 */
export function crumbs(path: string): Crumb[] {
  const windows = /^[a-z]:[\\/]/i.test(path);
  const separator = windows ? "\\" : "/";
  const parts = path.split(windows ? /[\\/]/ : "/").filter((part) => part !== "");
  const root = windows ? `${parts.shift()}\\` : "/";
  const result: Crumb[] = [{ name: root, path: root }];
  let at = root;
  for (const name of parts) {
    at = at.endsWith(separator) ? at + name : at + separator + name;
    result.push({ name, path: at });
  }
  return result;
}
