import { memo } from "react";
import type { PartialBlock } from "../../../api/types";
import { Spinner } from "../../../components/Spinner";
import { partialArguments, viewTool } from "../calls/tool-view";
import { Frame } from "../tools/Frame";

/** A streaming tool call. */
export const WritingCall = memo(function WritingCall({ block }: { block: PartialBlock }) {
  return (
    <Frame
      view={viewTool(block.name ?? "tool", partialArguments(block.text))}
      state="writing"
      badge={<Spinner className="text-faint text-sm" />}
      startsOpen={false}
      output=""
      decision={null}
      tail
    />
  );
});
