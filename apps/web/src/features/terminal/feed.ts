// Transfers data between one terminal of a host and its screen: output with offsets, which is acknowledged once it is
// drawn, and input, which is never sent twice.

import type { Host } from "../../api/contract";
import { Store } from "../../api/store";
import type { Event, Terminal } from "../../api/types";
import { ApiKind } from "../../api/types";
import { isRefusal } from "../shared/errors";

/** Draws the output. */
export interface Screen {
  /** `drawn` is called when the bytes were drawn, in the order of the calls. */
  write(data: Uint8Array, drawn: () => void): void;
  /**
   * Called when output is lost, with the number of bytes: what follows may assume a screen that was never drawn. null
   * if nothing was drawn yet.
   */
  missed(bytes: number | null): void;
}

export type FeedState =
  /** The host's buffered output is being drawn; input would mix with the answers that it causes. */
  | { name: "connecting" }
  | { name: "open" }
  /** The connection is lost. The shell continues. */
  | { name: "lost" }
  | { name: "ended"; terminal: Terminal }
  /** The host no longer has the terminal. */
  | { name: "gone" }
  | { name: "failed"; error: unknown };

const ESCAPE = 0x1b;
const LINE_FEED = 0x0a;
/** The acknowledgement interval in bytes: well below what a host sends without one. */
const ACK_EVERY = 32 << 10;
/** The maximum bytes of input in one request. */
const CHUNK = 48 << 10;
/** After a gap, output is dropped up to the beginning of a line or a sequence, but no more than this many bytes. */
const MAX_SKIPPED = 64 << 10;
/** The maximum bytes of input that are queued while the host is slow. */
const MAX_WAITING = 1 << 20;

export class Feed {
  readonly state = new Store<FeedState>({ name: "connecting" });
  readonly #host: Host;
  readonly #id: string;
  readonly #screen: Screen;
  readonly #leave: (() => void)[] = [];
  /** The offset after the bytes passed to the screen; null before the first answer. */
  #received: number | null = null;
  #drawn = 0;
  /** The offset after the last bytes that the host has sent. */
  #sent = 0;
  #acked = 0;
  /** Input is ignored until this offset is drawn. */
  #replayUntil = 0;
  #attachment = 0;
  /** How many bytes may still be dropped after a gap; 0 once the output is whole again. */
  #skipping = 0;
  /** Whether programs must redraw their screen once the output is drawn. */
  #redraw = false;
  #size: { cols: number; rows: number } | null = null;
  #input: number[] = [];
  #sending = false;

  constructor(host: Host, id: string, screen: Screen) {
    this.#host = host;
    this.#id = id;
    this.#screen = screen;
  }

  start(): void {
    this.#leave.push(this.#host.onEvent((event) => this.#take(event)));
    let before = this.#host.status.get();
    this.#leave.push(
      this.#host.status.subscribe(() => {
        const now = this.#host.status.get();
        if (now === "open" && before !== "open") {
          void this.#attach();
        } else if (now !== "open") {
          this.#lost();
        }
        before = now;
      }),
    );
    if (before === "open") {
      void this.#attach();
    } else {
      this.#lost();
    }
  }

  /** Stops following the terminal. The shell continues on the host. */
  stop(): void {
    this.#attachment++;
    for (const leave of this.#leave.splice(0)) {
      leave();
    }
    // Sent even without a connection, whose loss ends it too: it notifies the worker that this page no longer follows
    // the terminal.
    this.#host.request("detach_terminal", { terminalId: this.#id }).catch(() => {});
  }

  /**
   * Sends typed input. Input typed while the shell cannot be reached is dropped, so that it does not run later by
   * surprise.
   */
  type(bytes: Uint8Array): boolean {
    if (this.state.get().name !== "open" || this.#input.length + bytes.length > MAX_WAITING) {
      return false;
    }
    for (const byte of bytes) {
      this.#input.push(byte);
    }
    void this.#send();
    return true;
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    if (this.state.get().name === "open") {
      this.#host.request("resize_terminal", { terminalId: this.#id, cols, rows }).catch(() => {}); // a later one follows
    }
  }

  async #attach(): Promise<void> {
    const attachment = ++this.#attachment;
    const offset = this.#received ?? 0;
    this.#input = [];
    this.state.set({ name: "connecting" });
    try {
      const answer = await this.#host.request("attach_terminal", { terminalId: this.#id, offset });
      if (attachment !== this.#attachment) {
        return;
      }
      // An event may have arrived before this answer was delivered.
      if (this.#received === null || this.#received < answer.offset) {
        this.#skipTo(answer.offset);
      }
      this.#replayUntil = answer.terminal.end;
      this.#settle();
    } catch (error) {
      if (attachment === this.#attachment) {
        this.#refused(error);
      }
    }
  }

  #refused(error: unknown): void {
    if (!isRefusal(error)) {
      this.#lost();
    } else if (error.kind === ApiKind.not_found) {
      this.state.set({ name: "gone" });
    } else {
      this.state.set({ name: "failed", error });
    }
  }

  #lost(): void {
    this.#attachment++;
    this.#input = [];
    const { name } = this.state.get();
    if (name !== "ended" && name !== "gone") {
      this.state.set({ name: "lost" });
    }
  }

  #take(event: Event): void {
    if (event.type === "terminal_output" && event.terminalId === this.#id) {
      this.#output(event.offset, event.data);
    } else if (event.type === "terminal_changed" && event.terminal.id === this.#id && event.terminal.ended) {
      this.#input = [];
      this.state.set({ name: "ended", terminal: event.terminal });
    }
  }

  #output(offset: number, data: string): void {
    const bytes = fromBase64(data);
    if (this.#received === null || this.#received < offset) {
      this.#skipTo(offset); // even if it overtook the answer
    }
    const fresh = bytes.subarray(Math.max(0, (this.#received ?? 0) - offset));
    this.#sent = offset + bytes.length;
    this.#acked = Math.min(this.#acked, offset);
    if (fresh.length === 0) {
      // For another page of this browser. That page may be closed, and the host sends nothing new before this is
      // acknowledged.
      this.#settle();
      return;
    }
    this.#received = this.#sent;
    const behind = this.#received;
    this.#screen.write(this.#whole(fresh), () => {
      this.#drawn = Math.max(this.#drawn, behind);
      this.#settle();
    });
  }

  /** Skips output before the offset, which is missing and will not arrive. */
  #skipTo(offset: number): void {
    const missing = offset - (this.#received ?? 0);
    if (missing > 0) {
      this.#screen.missed(this.#received === null ? null : missing);
      this.#skipping = MAX_SKIPPED;
      this.#redraw = true;
    }
    this.#received = offset;
    this.#sent = offset;
    this.#drawn = Math.max(this.#drawn, offset);
  }

  /**
   * Returns the bytes from the first whole line or sequence on: output after a gap begins anywhere, even within a
   * sequence.
   */
  #whole(bytes: Uint8Array): Uint8Array {
    if (this.#skipping === 0) {
      return bytes;
    }
    const at = bytes.findIndex((byte) => byte === ESCAPE || byte === LINE_FEED);
    if (at < 0 && bytes.length < this.#skipping) {
      this.#skipping -= bytes.length;
      return bytes.subarray(bytes.length);
    }
    this.#skipping = 0;
    return at < 0 ? bytes : bytes.subarray(bytes[at] === ESCAPE ? at : at + 1);
  }

  #settle(): void {
    const offset = Math.min(this.#drawn, this.#sent);
    if (offset - this.#acked >= ACK_EVERY) {
      this.#acked = offset;
      this.#host.request("ack_terminal", { terminalId: this.#id, offset }).catch(() => {}); // attaching acknowledges too
    }
    if (this.state.get().name === "connecting" && this.#received !== null && this.#drawn >= this.#replayUntil) {
      this.state.set({ name: "open" });
    }
    if (this.#redraw && this.state.get().name === "open" && this.#drawn === this.#received) {
      this.#redraw = false;
      void this.#nudge();
    }
  }

  /** Changes the size for a moment, which makes full-screen programs redraw everything. */
  async #nudge(): Promise<void> {
    if (!this.#size) {
      return;
    }
    const { cols, rows } = this.#size;
    const resize = (size: { cols: number; rows: number }) =>
      this.#host.request("resize_terminal", { terminalId: this.#id, ...size });
    try {
      await resize({ cols, rows: rows > 1 ? rows - 1 : rows + 1 });
      await resize(this.#size);
    } catch {
      // the size is set again with the next connection
    }
  }

  async #send(): Promise<void> {
    if (this.#sending) {
      return;
    }
    this.#sending = true;
    try {
      while (this.#input.length > 0) {
        const data = toBase64(this.#input.splice(0, CHUNK));
        await this.#host.request("write_terminal", { terminalId: this.#id, data });
      }
    } catch (error) {
      // After a lost connection it is unknown whether the input was written: typing it again is up to the person.
      this.#input = [];
      if (isRefusal(error) && error.kind === ApiKind.not_found) {
        this.state.set({ name: "gone" });
      }
    } finally {
      this.#sending = false;
    }
  }
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

function toBase64(bytes: number[]): string {
  let text = "";
  for (const byte of bytes) {
    text += String.fromCharCode(byte);
  }
  return btoa(text);
}
