import decodeQR from "qr/decode.js";

/** The longest side in pixels of a frame that is searched: enough for a code that fills a fifth of it. */
const longest = 960;

/** The pause between two searches, in milliseconds: a search takes tens of them on a phone. */
const pause = 120;

/** What a scanned text is to this page. */
export type Scanned = { code: string } | { otherRelay: string } | null;

/** The pairing code in a scanned text: a link `RELAY/pair#CODE` of this relay, or the code itself. Null if it is neither. */
export function codeIn(text: string, relayUrl: string): Scanned {
  const bare = /^[0-9a-z]{4}-?[0-9a-z]{4}-?[0-9a-z]{4}$/i;
  if (bare.test(text.trim())) {
    return { code: text.trim() };
  }
  if (!URL.canParse(text)) {
    return null;
  }
  const link = new URL(text);
  const code = link.hash.slice(1);
  if (!/^https?:$/.test(link.protocol) || !link.pathname.endsWith("/pair") || !bare.test(code)) {
    return null;
  }
  return link.origin === new URL(relayUrl).origin ? { code } : { otherRelay: link.origin };
}

/** Opens the camera that looks away from the person, if there is a choice. */
export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } },
  });
}

/** Searches the pictures of a playing video for QR codes until `signal` is aborted, and passes on the text of each. */
export async function scan(video: HTMLVideoElement, found: (text: string) => void, signal: AbortSignal): Promise<void> {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  while (context && !signal.aborted) {
    const text = read(video, canvas, context);
    if (text !== null) {
      found(text);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function read(video: HTMLVideoElement, canvas: HTMLCanvasElement, context: CanvasRenderingContext2D): string | null {
  const { videoWidth, videoHeight } = video;
  if (videoWidth === 0 || videoHeight === 0) {
    return null; // no picture yet
  }
  const scale = Math.min(1, longest / Math.max(videoWidth, videoHeight));
  canvas.width = Math.round(videoWidth * scale);
  canvas.height = Math.round(videoHeight * scale);
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  try {
    return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height));
  } catch {
    return null; // no code in this picture
  }
}
