/**
 * Takes the pairing code out of a link `/pair#CODE`, and clears it from the address at once: it must not stay in the
 * history, in a bookmark or on a screenshot. Returns null if there is none.
 */
export function takeFragment(view: Pick<Window, "location" | "history">): string | null {
  const { pathname, search, hash } = view.location;
  if (hash.length < 2 || !pathname.startsWith("/pair")) {
    return null;
  }
  view.history.replaceState(view.history.state, "", pathname + search);
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1); // not a code either way; redeeming it reports the error
  }
}
