import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type HostInfo, type Provider } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { type FakeHost, FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { MachineSheet } from "./MachineSheet";

const provider = (name: string, more: Partial<Provider> = {}): Provider => ({
  name,
  type: "openai",
  address: "api.example",
  models: [],
  keyName: `${name.toUpperCase()}_KEY`,
  ...more,
});

function show(providers: Provider[], more: Partial<HostInfo> = {}, prepare = (_host: FakeHost) => {}) {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  const asked: [string, unknown][] = [];
  const change = (name: string, keySource?: Provider["keySource"]) => {
    const found = providers.find((each) => each.name === name) as Provider;
    const { keySource: _, ...rest } = found;
    const next = keySource ? { ...rest, keySource } : rest;
    providers[providers.indexOf(found)] = next;
    return { provider: next };
  };
  host.handlers.list_providers = () => {
    asked.push(["list_providers", {}]);
    return { providers: [...providers] };
  };
  host.handlers.set_provider_key = (fields) => {
    asked.push(["set_provider_key", fields]);
    return change(fields.provider, "system");
  };
  host.handlers.remove_provider_key = (fields) => {
    asked.push(["remove_provider_key", fields]);
    return change(fields.provider);
  };
  host.handlers.list_mcp_servers = () => ({ servers: [] });
  host.handlers.list_skills = () => ({ skills: [] });
  prepare(host);
  const info = hostInfo({ grants: ["view", "approve", "manage"], relayUrl: "https://relay.example", ...more });
  render(
    <ScorelContext value={scorel}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <MachineSheet host={host} machine="desk" info={info} onClose={() => {}} />
      </QueryClientProvider>
    </ScorelContext>,
  );
  return { host, asked, scorel };
}

const rows = async () => (await screen.findAllByTestId("provider")).map((row) => row.textContent);

test("lists the source of each key, and offers only what can be changed", async () => {
  show([
    provider("away", { models: ["large", "small"], keySource: "environment" }),
    provider("desk", { keySource: "file", models: ["one"] }),
    provider("lost", { problem: "The saved key cannot be read." }),
    provider("none"),
    { name: "open", type: "openai", address: "127.0.0.1:11434", models: [] },
  ]);
  const [away, desk, lost, none, open] = (await rows()) as [string, string, string, string, string];
  expect(away).toContain("Models: large, small");
  expect(away).toContain("Key set in the environment of the machine, as AWAY_KEY");
  expect(away).not.toContain("Replace key");
  expect(desk).toContain("Model: one");
  expect(desk).toContain("Key saved in a file on the machine");
  expect(desk).toContain("Replace keyRemove key");
  expect(lost).toContain("The saved key cannot be read.");
  expect(lost).toContain("Replace key");
  expect(none).toContain("No key");
  expect(none).toContain("Set key");
  expect(open).toContain("127.0.0.1:11434");
  expect(open).toContain("No key needed");
  expect(open).not.toContain("Set key");
});

test("hands a key over once, keeps it nowhere in the page, and says that it counts", async () => {
  const { host, asked } = show([provider("desk")]);
  fireEvent.click(await screen.findByRole("button", { name: "Set key for desk" }));
  const input = () => screen.getByLabelText<HTMLInputElement>("API key for desk");
  expect(input().type).toBe("password");
  expect(input().autocomplete).toBe("off");
  expect(document.activeElement).toBe(input());
  const save = () => fireEvent.click(screen.getByRole("button", { name: "Save key" }));
  const works = host.handlers.set_provider_key;
  host.handlers.set_provider_key = () => {
    throw new Error("this is not a key");
  };
  fireEvent.change(input(), { target: { value: " sk-1234 " } });
  save();
  expect((await screen.findByRole("alert")).textContent).toBe("This is not a key");
  host.handlers.set_provider_key = works as never;
  save();
  expect((await screen.findByText(/Key saved in the key store/)).textContent).toBeTruthy();
  expect(asked.filter(([name]) => name === "set_provider_key")).toEqual([
    ["set_provider_key", { provider: "desk", key: "sk-1234" }],
  ]);
  await waitFor(() =>
    expect(screen.getByTestId("provider").textContent).toContain("desk uses it from the next call on"),
  );
  expect(screen.queryByTestId("key-input")).toBeNull();
  expect(document.documentElement.outerHTML).not.toContain("sk-1234");
  await waitFor(() =>
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Replace key for desk" })),
  );
  // Opened again, the field is empty.
  fireEvent.click(screen.getByRole("button", { name: "Replace key for desk" }));
  expect(input().value).toBe("");
});

test("removes a key after a confirmation", async () => {
  const { asked } = show([provider("desk", { keySource: "system" })]);
  fireEvent.click(await screen.findByRole("button", { name: "Remove key for desk" }));
  expect(screen.getByTestId("machine-sheet")).toBeTruthy(); // with what was typed in it
  const dialog = screen.getAllByRole("dialog").at(-1) as HTMLElement;
  expect(dialog.textContent).toContain("revoke it at the provider");
  expect(asked.some(([name]) => name === "remove_provider_key")).toBe(false);
  fireEvent.click(within(dialog).getByRole("button", { name: "Remove key" }));
  await waitFor(async () => expect((await rows())[0]).toContain("No key"));
});

test("a browser that may not approve sees the keys' states and saves none; one that may not manage requests nothing", async () => {
  show([provider("desk", { keySource: "file" })], { grants: ["view", "manage"] });
  expect(await rows()).toHaveLength(1);
  expect(screen.queryByTestId("set-key")).toBeNull();
  expect(screen.getByTestId("remove-key")).toBeTruthy();
});

test("a browser that may not manage requests nothing", async () => {
  const { asked } = show([provider("desk")], { grants: ["view"] });
  expect((await screen.findByTestId("machine-sheet")).textContent).toContain("may not manage desk");
  expect(asked).toEqual([]);
});

test("reports an older host, and shows the relay of both sides", async () => {
  show([], { relayState: "connecting" }, (host) => {
    host.handlers.list_providers = () => {
      throw new ApiError(ApiKind.unknown_request, "this host does not know the request");
    };
  });
  expect((await screen.findByRole("alert")).textContent).toContain("desk runs an older scorel");
  const relay = screen.getByTestId("relay-state").textContent;
  expect(relay).toContain("This browser");
  expect(relay).toContain("deskConnecting…https://relay.example");
});

test("shows the paths instead of the relays once they are known, with their remedies", async () => {
  const { scorel } = show([]);
  await screen.findByTestId("relay-state");
  act(() =>
    scorel.paths.set({
      dev_one: [
        { kind: "relay", url: "https://one.example", state: "used", rtt: 12.4 },
        { kind: "relay", url: "https://two.example", state: "origin" },
        { kind: "relay", url: "https://three.example", state: "refused", detail: "By invite only." },
        { kind: "network", url: "http://192.168.1.20:7411", state: "insecure" },
        { kind: "pigeon", url: "https://four.example", state: "ready" },
      ],
    }),
  );
  expect(screen.queryByTestId("relay-state")).toBeNull();
  const [one, two, three, network, pigeon] = screen.getAllByTestId("path").map((row) => row.textContent);
  expect(one).toContain("RelayIn use12 ms");
  expect(two).toContain(`its operator may have to add ${location.origin} to allowed_origins`);
  expect(three).toContain("By invite only.");
  expect(network).toContain("Local networkNot available in a browser");
  expect(pigeon).toContain("OtherReady");
});
