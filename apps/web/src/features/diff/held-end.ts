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
 * Draws the rows of a block, whose height was a guess. What the reader sees below it stays in place if the block ends
 * above the middle of the visible area, or if the reader is at the end of the box. A block
 * that covers the middle keeps its line there in place. Otherwise what is above stays in place.
 */
export function drawHeld(block: Element, lines: number, draw: () => void): void {
  const box = boxOf(block);
  const { scrollHeight: before, scrollTop, clientHeight } = box;
  const view = box.getBoundingClientRect();
  const { top, bottom, height } = block.getBoundingClientRect();
  const middle = (view.top + view.bottom) / 2;
  const atEnd = scrollTop > 0 && before - scrollTop - clientHeight < near;
  if (atEnd || (bottom <= middle && scrollTop > 0)) {
    draw();
    box.scrollTop = scrollTop + box.scrollHeight - before;
    return;
  }
  const line = Math.floor(((middle - top) / height) * lines);
  const lineTop = top + (line / lines) * height;
  const drawn = rowAfter(block, line, draw);
  if (drawn && line > 0) {
    box.scrollTop += drawn.getBoundingClientRect().top - lineTop;
  }
}

/** Draws a block and returns its row of that index, unless the block was replaced with smaller ones. */
function rowAfter(block: Element, index: number, draw: () => void): Element | undefined {
  const { parentElement: table, previousElementSibling: previous } = block;
  draw();
  const body = previous ? previous.nextElementSibling : table?.firstElementChild;
  return body?.matches(".diff-block") ? body.children[index] : undefined;
}
