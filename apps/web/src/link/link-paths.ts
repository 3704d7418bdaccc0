// What the devices report of their paths, for the pages. The code that works with it is loaded once a device is used.

import type { FromLink } from "../api/messages";
import { parseRelayUrl, type RelayAddress } from "../api/relay-url";
import type { DeviceChannel } from "./channel";
import type { KnownPaths, ListedPaths } from "./known-paths";
import { matchesPin } from "./pins";
import type { Relays } from "./relays";

type Paths = (FromLink & { t: "paths" })["paths"];

export interface LinkPathsOptions {
  relays: Relays;
  /** The channels to the devices in use. */
  channels: ReadonlyMap<string, DeviceChannel>;
  post: (message: FromLink) => void;
  changed: () => void;
}

export class LinkPaths {
  readonly #options: LinkPathsOptions;
  #loading: Promise<void> | null = null;
  /** Set once its code is loaded. */
  #known: KnownPaths | null = null;
  #posted = "{}";

  constructor(options: LinkPathsOptions) {
    this.#options = options;
  }

  /** The addresses at which devices report that they can be reached. */
  get addresses(): RelayAddress[] {
    return this.#known?.addresses ?? [];
  }

  /** The paths as the pages know them, by device. */
  get posted(): Paths {
    return JSON.parse(this.#posted);
  }

  /** Asks a device for its paths. */
  async read(channel: DeviceChannel): Promise<void> {
    try {
      const listed = (await channel.request("list_paths", {}, 0)) as ListedPaths;
      await this.load();
      await this.#known?.take(channel.deviceId, listed);
    } catch {
      // An older host does not report paths; the next opening asks again.
    }
  }

  /** Loads the code. After an update, its chunk may no longer exist; the paths then stay as they are. */
  load(): Promise<void> {
    const { relays, channels, changed } = this.#options;
    this.#loading ??= import("./known-paths").then(
      ({ KnownPaths }) => {
        this.#known = new KnownPaths({
          parse: parseRelayUrl,
          matches: matchesPin,
          page: parseRelayUrl(globalThis.location?.origin ?? relays.home.address.http),
          relays: () => relays.all,
          home: () => relays.home,
          used: (deviceId) => channels.get(deviceId)?.way ?? null,
          connect: () => void relays.know(),
          changed,
        });
        this.post();
      },
      () => {},
    );
    return this.#loading;
  }

  /** Claims missing bindings, and tells the pages what has changed. */
  post(): void {
    this.#known?.claim();
    const { channels, post } = this.#options;
    const paths = Object.fromEntries([...channels.keys()].map((id) => [id, this.#known?.of(id) ?? []]));
    const told = JSON.stringify(paths);
    if (this.#known && told !== this.#posted) {
      this.#posted = told;
      post({ t: "paths", paths });
    }
  }

  forget(deviceId: string): void {
    this.#known?.forget(deviceId);
  }
}
