import { useState } from "react";
import { useParams } from "wouter";
import { createHighlighting, HighlightingContext } from "../code/use-highlighted";
import type { paths } from "../route/address";
import { idIn } from "../route/address";
import { useEntry, useSearchParams } from "../route/entry";
import { ChatSession } from "./ChatSession";
import "./text/markdown.css";

/** The page of one session. */
export function ChatPage() {
  const { deviceId, sessionId } = useParams<typeof paths.session>();
  const entry = idIn(useSearchParams(), "entry");
  const { find } = useEntry().state;
  const [highlighting] = useState(() => createHighlighting());
  return (
    <HighlightingContext value={highlighting}>
      <ChatSession
        key={`${deviceId}/${sessionId}`}
        deviceId={deviceId}
        sessionId={sessionId}
        entryId={entry}
        finding={find}
      />
    </HighlightingContext>
  );
}
