/** Why a card has no buttons here. */
export function Watching() {
  return (
    <p className="mt-3 px-4 pb-3.5 text-muted text-sm">
      This browser may look on, not answer. Somebody who may has to do it on another device.
    </p>
  );
}
