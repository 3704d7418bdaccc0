import { useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ChatSession } from "./ChatSession";
import { createHighlighting, HighlightingContext } from "./use-highlighted";
import "./markdown.css";

/** The page of one session. */
export function ChatPage() {
  const { deviceId, sessionId } = useParams({ from: "/d/$deviceId/s/$sessionId" });
  const { entry } = useSearch({ from: "/d/$deviceId/s/$sessionId" });
  const [highlighting] = useState(() => createHighlighting());
  return (
    <HighlightingContext value={highlighting}>
      <ChatSession key={`${deviceId}/${sessionId}`} deviceId={deviceId} sessionId={sessionId} entryId={entry} />
    </HighlightingContext>
  );
}
