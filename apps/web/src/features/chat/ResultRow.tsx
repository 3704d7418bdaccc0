import type { ToolResultMessage } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Frame } from "./ToolCard";
import { resultText, viewTool } from "./tool-view";

/** A tool result whose call is not in the transcript. */
export function ResultRow({ result }: { result: ToolResultMessage }) {
  return (
    <Frame
      view={viewTool(result.toolName, {})}
      state={result.isError ? "failed" : "done"}
      badge={<Badge tone={result.isError ? "danger" : "neutral"}>{result.isError ? "failed" : "done"}</Badge>}
      startsOpen={false}
      output={resultText(result)}
      decision={null}
    />
  );
}
