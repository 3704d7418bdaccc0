/** Reloads the page from its server, bypassing the service worker's cache. */
export async function reloadFromServer(): Promise<void> {
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    await registration?.unregister();
  } catch {
    // There is no service worker.
  }
  location.reload();
}
