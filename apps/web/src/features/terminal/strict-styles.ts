// xterm.js draws with <style> elements and style attributes, both of which the page's policy forbids. The same rules in
// constructed style sheets, and the same declarations through the CSSOM, are allowed: neither can be written as markup.

/**
 * Runs `open` while every <style> that it creates in the page becomes a constructed sheet instead, whose text can also
 * be replaced later. Until the returned function is called, style attributes that a script sets on a <span> are set
 * through the CSSOM.
 */
export function withStrictStyles(open: () => void): () => void {
  const sheets: CSSStyleSheet[] = [];
  const plain = document.createElement.bind(document) as (name: string) => HTMLElement;
  const sheetElement = (): HTMLElement => {
    const sheet = new CSSStyleSheet();
    sheets.push(sheet);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    const element = plain("span");
    element.hidden = true;
    Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text), get: () => "" });
    return element;
  };
  const create = (name: string) => (name === "style" ? sheetElement() : plain(name));
  const dropSpans = strictSpans();
  Object.defineProperty(document, "createElement", { value: create, configurable: true });
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
  return () => {
    dropSpans();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => !sheets.includes(each));
  };
}

let holders = 0;

function strictSpans(): () => void {
  holders++;
  HTMLSpanElement.prototype.setAttribute = function setAttribute(name: string, value: string) {
    if (name === "style") {
      this.style.cssText = value;
    } else {
      Element.prototype.setAttribute.call(this, name, value);
    }
  };
  return () => {
    holders--;
    if (holders === 0) {
      Reflect.deleteProperty(HTMLSpanElement.prototype, "setAttribute");
    }
  };
}
