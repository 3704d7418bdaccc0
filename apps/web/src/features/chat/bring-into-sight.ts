/** Scrolls a box, and nothing around it, until an element in it is at its top or in its middle. */
export function bringIntoSight(box: HTMLElement, element: Element, where: "top" | "middle"): void {
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  const gap = where === "top" ? 8 : Math.max(8, (outer.height - inner.height) / 2);
  box.scrollTop += inner.top - outer.top - gap;
}
