import { useLocation, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { createHighlighting, HighlightingContext } from "../code/use-highlighted";
import { ChatSession } from "./ChatSession";
import "./text/markdown.css";

/** The page of one session. */
export function ChatPage() {
  const { deviceId, sessionId } = useParams({ from: "/d/$deviceId/s/$sessionId" });
  const { entry } = useSearch({ from: "/d/$deviceId/s/$sessionId" });
  const find = useLocation({ select: ({ state }) => state.find });
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
