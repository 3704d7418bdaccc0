/** The link of an authorization server, or null if it is not one of https or of this machine. */
export function linkOf(text: string): string | null {
  const url = parsed(text);
  const local = url?.hostname === "127.0.0.1" || url?.hostname === "localhost" || url?.hostname === "[::1]";
  return url && !url.username && !url.password && (url.protocol === "https:" || (url.protocol === "http:" && local))
    ? url.href
    : null;
}

/** The domain of an address, for people. */
export function domainOf(text: string): string {
  return parsed(text)?.host ?? text;
}

function parsed(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}
