import type { ToolResultMessage } from "../../../api/types";
import { Badge } from "../../../components/Badge";
import { t } from "../../../i18n/chat";
import { changeOf, remarkOf } from "../calls/changes";
import { todosIn } from "../calls/todos";
import { resultImages, resultText, viewTool } from "../calls/tool-view";
import { Frame } from "./Frame";

/** A tool result whose call is not in the transcript. */
export function ResultRow({ result }: { result: ToolResultMessage }) {
  return (
    <Frame
      view={viewTool(result.toolName, {})}
      state={result.isError ? "failed" : "done"}
      badge={
        <Badge tone={result.isError ? "danger" : "neutral"}>
          {result.isError ? t("chat.tools.failed") : t("chat.tools.done")}
        </Badge>
      }
      startsOpen={false}
      output={remarkOf(result, resultText(result))}
      change={changeOf(result.toolName, {}, result)}
      todos={todosIn(result)}
      images={resultImages(result)}
      decision={null}
    />
  );
}
