import type { Device } from "../../api/contract";
import { Badge, Dot } from "../../components/Badge";
import { usePresence } from "./use-presence";

/** The presence of a device as a badge. */
export function PresenceBadge({ device }: { device: Device }) {
  const { state, tone, word, detail } = usePresence(device);
  return (
    <span data-testid="device-status" data-state={state} title={detail ?? undefined}>
      <Badge tone={tone} live={state === "online"}>
        {state === "unknown" ? <Word word={word} detail={detail} /> : word}
      </Badge>
    </span>
  );
}

/** The presence of a device as a dot before its name. */
export function PresenceDot({ device }: { device: Device }) {
  return <Dot tone={usePresence(device).tone} />;
}

/** The presence of a device in a word after its name, unless it is online. */
export function PresenceWord({ device }: { device: Device }) {
  const { state, word, detail } = usePresence(device);
  if (state === "online") {
    return null;
  }
  return (
    <span className="caption text-faint" title={detail ?? undefined}>
      {state === "unknown" ? <Word word={word} detail={detail} /> : word}
    </span>
  );
}

/** A visible word, with a sentence for screen readers. */
function Word({ word, detail }: { word: string; detail: string | null }) {
  return (
    <>
      <span aria-hidden="true">{word}</span>
      <span className="sr-only">{detail}</span>
    </>
  );
}
