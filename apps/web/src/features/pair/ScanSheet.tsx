import { useEffect, useRef, useState } from "react";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/pair";
import { useReadable, useScorel } from "../shared/scorel-context";
import { codeIn, openCamera, scan } from "./scan";

export interface ScanSheetProps {
  onCode: (code: string) => void;
  onClose: () => void;
}

/** Scans the QR code of a machine with the camera. Pictures stay in this page. */
export function ScanSheet({ onCode, onClose }: ScanSheetProps) {
  const relayUrl = useReadable(useScorel().relayUrl);
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const done = useRef(onCode);
  done.current = onCode;

  useEffect(() => {
    const ending = new AbortController();
    const take = (text: string) => {
      const scanned = codeIn(text, relayUrl);
      if (scanned && "code" in scanned) {
        ending.abort();
        done.current(scanned.code);
      } else {
        setProblem(
          scanned ? t("pair.scanSheet.otherRelay", { relay: scanned.otherRelay }) : t("pair.scanSheet.notACode"),
        );
      }
    };
    void openCamera().then(
      async (stream) => {
        ending.signal.addEventListener("abort", () => stop(stream));
        if (ending.signal.aborted || !video.current) {
          stop(stream);
          return;
        }
        video.current.srcObject = stream;
        await scan(video.current, take, ending.signal);
      },
      (cause: unknown) => {
        if (!ending.signal.aborted) {
          setProblem(problemOf(cause));
        }
      },
    );
    return () => ending.abort();
  }, [relayUrl]);

  return (
    <Sheet title={t("pair.scanSheet.title")} onClose={onClose}>
      <p className="text-muted text-sm">{t("pair.scanSheet.hint")}</p>
      <video
        ref={video}
        autoPlay
        muted
        playsInline
        aria-label={t("pair.scanSheet.picture")}
        className="mt-3 aspect-video w-full rounded-md bg-sunken object-cover"
      />
      <p role="status" className="mt-3 min-h-10 text-sm">
        {problem ?? t("pair.scanSheet.looking")}
      </p>
    </Sheet>
  );
}

function stop(stream: MediaStream): void {
  for (const track of stream.getTracks()) {
    track.stop();
  }
}

function problemOf(cause: unknown): string {
  switch (cause instanceof Error ? cause.name : "") {
    case "NotAllowedError":
      return t("pair.scanSheet.denied");
    case "NotFoundError":
    case "OverconstrainedError":
      return t("pair.scanSheet.noCamera");
    default:
      return t("pair.scanSheet.failed");
  }
}
