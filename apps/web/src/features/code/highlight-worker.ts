// The entry of the worker that colors code, shared by the tabs of the page where the browser can: grammars are
// compiled and kept once, and never in the way of a page.
import { colorRuns, tokenize } from "./highlight";
import { type HighlightPort, serveHighlighting } from "./serve";

const engine = { tokenize, colorRuns };

if ("onconnect" in self) {
  self.onconnect = (event: MessageEvent) => {
    for (const port of event.ports) {
      serveHighlighting(port, engine);
    }
  };
} else {
  serveHighlighting(self as unknown as HighlightPort, engine);
}
