import { useEffect, useState } from "react";
import { PointerTrack } from "./pointer-track";

/** Follows the pointer while the component is mounted. */
export function usePointerTrack(): PointerTrack {
  const [track] = useState(() => new PointerTrack());
  useEffect(() => track.listen(), [track]);
  return track;
}
