/** Scrolls a box, and nothing around it, until an element is in its middle, or at an offset below its top. */
export function bringIntoSight(box: HTMLElement, element: Element, where: "top" | "middle" | number): void {
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  const middle = Math.max(8, (outer.height - inner.height) / 2);
  const gap = where === "middle" ? middle : where === "top" ? 8 : where;
  box.scrollTop += inner.top - outer.top - gap;
}
