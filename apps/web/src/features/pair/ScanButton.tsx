import { lazy, useState } from "react";
import { Button, type ButtonTone } from "../../components/Button";
import { CameraIcon } from "../../components/icons";
import { t } from "../../i18n/pair";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";

const ScanSheet = lazy(chunk(() => import("./ScanSheet").then((module) => ({ default: module.ScanSheet }))));

export interface ScanButtonProps {
  tone?: ButtonTone;
  className: string;
  onCode: (code: string) => void;
}

/** Reads the code from the QR code that the host shows, if the browser allows this page to use a camera. */
export function ScanButton({ tone = "secondary", className, onCode }: ScanButtonProps) {
  const [scanning, setScanning] = useState(false);
  if (!hasCamera()) {
    return null;
  }
  return (
    <>
      <Button tone={tone} className={className} onClick={() => setScanning(true)} data-testid="pair-scan">
        <CameraIcon /> {t("pair.redeemForm.scan")}
      </Button>
      {scanning ? (
        <LazyPart onClose={() => setScanning(false)}>
          <ScanSheet
            onClose={() => setScanning(false)}
            onCode={(scanned) => {
              setScanning(false);
              onCode(scanned);
            }}
          />
        </LazyPart>
      ) : null}
    </>
  );
}

/** Reports whether the browser allows a page to use a camera, which requires a secure connection. */
function hasCamera(): boolean {
  return typeof navigator.mediaDevices?.getUserMedia === "function";
}
