import { useEffect, useEffectEvent, useState } from "react";

/** Accepts files dropped anywhere on the page, and shows a hint while they are dragged. */
export function DropTarget({ text, onFiles }: { text: string; onFiles: (files: File[]) => void }) {
  const [over, setOver] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const has = (event: DragEvent) =>
      event.dataTransfer?.types.includes("Files") && !document.querySelector("dialog[open]");
    const onOver = (event: DragEvent) => {
      if (has(event)) {
        event.preventDefault(); // otherwise the browser navigates to the file
        setOver(true);
      }
    };
    const onLeave = (event: DragEvent) => {
      if (!event.relatedTarget) {
        setOver(false);
      }
    };
    const onDrop = (event: DragEvent) => {
      setOver(false);
      if (has(event)) {
        event.preventDefault();
        take([...(event.dataTransfer?.files ?? [])]);
      }
    };
    window.addEventListener("dragover", onOver);
    window.addEventListener("dragleave", onLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onOver);
      window.removeEventListener("dragleave", onLeave);
      window.removeEventListener("drop", onDrop);
    };
  }, []);
  return over ? (
    <div
      data-testid="drop-target"
      className="pointer-events-none fixed inset-3 z-30 grid place-items-center rounded-lg border-2 border-accent border-dashed bg-surface/90"
    >
      <p className="px-6 text-center font-medium text-lg">{text}</p>
    </div>
  ) : null;
}
