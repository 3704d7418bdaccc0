// The entry point of the highlighting worker, shared by the tabs of the page where the browser supports it: grammars
// are compiled and kept once, and never block a page.
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
