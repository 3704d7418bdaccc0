/** A smaller distance from the end of a box counts as its end, in CSS pixels. */
const near = 64;

/** Returns the box in which an element scrolls. */
function boxOf(element: Element): Element {
  for (let box = element.parentElement; box; box = box.parentElement) {
    if (box.scrollHeight > box.clientHeight && /auto|scroll/.test(getComputedStyle(box).overflowY)) {
      return box;
    }
  }
  return document.documentElement;
}

/**
 * Draws the rows of a block, whose height was a guess. What the reader sees below it stays in place if the block begins
 * above the visible area, or if the reader is at the end of the box. Otherwise what is above stays in place.
 */
export function drawHeld(block: Element, draw: () => void): void {
  const box = boxOf(block);
  const { scrollHeight: before, scrollTop, clientHeight } = box;
  const view = box.getBoundingClientRect();
  const { top, bottom } = block.getBoundingClientRect();
  const above = top < view.top && bottom <= view.bottom;
  const atEnd = scrollTop > 0 && before - scrollTop - clientHeight < near;
  draw();
  if (above || atEnd) {
    box.scrollTop = scrollTop + box.scrollHeight - before;
  }
}
