/** Why the buttons of a card cannot be pressed here. */
export function Watching() {
  return (
    <p className="px-4 pb-3 text-muted text-sm">
      This browser may look on, not answer. Somebody who may has to do it on another device.
    </p>
  );
}
