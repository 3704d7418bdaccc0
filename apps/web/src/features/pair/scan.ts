import decodeQR from "qr/decode.js";

/** The longest side, in pixels, of a whole frame that is searched: enough for a code that fills a fifth of it. */
const longest = 960;

/** The pause between two searches, in milliseconds: a search takes tens of them on a phone. */
const pause = 120;

/** The meaning of a scanned text for this page. */
export type Scanned = { code: string } | { otherRelay: string } | null;

/**
 * Returns the pairing code in a scanned text: a link `RELAY/pair#CODE` of this relay, or the code itself. Returns null
 * for anything else.
 */
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

/** Opens the rear camera, if there is a choice. */
export function openCamera(): Promise<MediaStream> {
  return navigator.mediaDevices.getUserMedia({
    audio: false,
    video: { facingMode: "environment", width: { ideal: 1280 }, height: { ideal: 720 } },
  });
}

/** Searches the frames of a playing video for QR codes until `signal` is aborted, and passes on the text of each. */
export async function scan(video: HTMLVideoElement, found: (text: string) => void, signal: AbortSignal): Promise<void> {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  for (let n = 0; context && !signal.aborted; n++) {
    const text = read(video, canvas, context, n);
    if (text !== null) {
      found(text);
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function read(
  video: HTMLVideoElement,
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  n: number,
): string | null {
  const { videoWidth, videoHeight } = video;
  if (videoWidth === 0 || videoHeight === 0) {
    return null; // no frame yet
  }
  const views = viewsOf(videoWidth, videoHeight);
  const { x, y, width, height, scale } = views[n % views.length] as View;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  context.drawImage(video, x, y, width, height, 0, 0, canvas.width, canvas.height);
  return textIn(context.getImageData(0, 0, canvas.width, canvas.height));
}

/** A part of a frame, and the factor by which it is enlarged before it is searched. */
export interface View {
  x: number;
  y: number;
  width: number;
  height: number;
  scale: number;
}

/**
 * Returns the parts of a frame to search in turn: all of it, and its enlarged middle, where the code of a terminal at 1
 * m is.
 */
export function viewsOf(width: number, height: number): View[] {
  return [
    { x: 0, y: 0, width, height, scale: Math.min(1, longest / Math.max(width, height)) },
    { x: width / 4, y: height / 4, width: width / 2, height: height / 2, scale: Math.min(2, 1280 / (width / 2)) },
  ];
}

/** Returns the text of the QR code in a picture; null if there is none. */
export function textIn(picture: Pick<ImageData, "width" | "height" | "data">): string | null {
  try {
    return decodeQR(picture);
  } catch {
    return null; // no code in this picture
  }
}
