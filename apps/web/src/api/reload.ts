/** Loads the page again from its server, whatever a service worker has kept. */
export async function reloadFromServer(): Promise<void> {
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    await registration?.unregister();
  } catch {
    // There is none.
  }
  location.reload();
}
