import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Grant, type Provider, type Requests } from "../../api/types";
import { hostInfo } from "../../app/testing/builders";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { ScorelContext } from "../shared/scorel-context";
import { MachineSheet } from "./MachineSheet";
import { freeName, modelName } from "./provider-draft";

type Listed = Requests["list_providers"]["response"];

const acme: Provider = {
  name: "acme",
  type: "openai",
  address: "acme.example",
  models: ["large"],
  keyName: "SCOREL_PROVIDER_A",
  source: "models.json",
  baseUrl: "https://acme.example/v1",
  version: "v1",
};
const large = { name: "large", version: "m1", model: { provider: "acme", id: "large-1", maxTokens: 5 } };

function show(list: Listed, grants: Grant[] = ["view", "approve", "manage"]) {
  const scorel = new FakeScorel();
  const host = scorel.host("dev_one");
  const asked: [string, unknown][] = [];
  host.handlers.list_providers = () => list;
  host.handlers.list_mcp_servers = () => ({ servers: [] });
  host.handlers.list_skills = () => ({ skills: [] });
  const record = (name: string, response: unknown) => (fields: unknown) => {
    asked.push([name, fields]);
    return response as never;
  };
  host.handlers.save_provider = record("save_provider", { provider: { ...acme, name: "ollama", version: "v2" } });
  host.handlers.set_provider_key = record("set_provider_key", { provider: acme });
  host.handlers.save_model = record("save_model", { model: large });
  host.handlers.remove_model = record("remove_model", {});
  host.handlers.remove_provider = record("remove_provider", {});
  host.handlers.set_default_model = record("set_default_model", { name: "large" });
  host.handlers.test_model = record("test_model", { ok: false, problem: "It is away.", ms: 3 });
  const info = hostInfo({ grants });
  render(
    <ScorelContext value={scorel}>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <MachineSheet host={host} machine="desk" info={info} onClose={() => {}} />
      </QueryClientProvider>
    </ScorelContext>,
  );
  return { host, asked };
}

const click = async (name: string) => fireEvent.click(await screen.findByRole("button", { name }));
const type = (testId: string, value: string) => fireEvent.change(screen.getByTestId(testId), { target: { value } });

test("adds a provider of a preset with its key and a model, and keeps the key nowhere", async () => {
  const { host, asked } = show({ providers: [acme], defaultModel: "demo" });
  await click("Add a provider");
  type("provider-preset", "ollama");
  expect(screen.getByTestId<HTMLInputElement>("provider-url").value).toBe("http://127.0.0.1:11434/v1");
  expect(screen.getByTestId<HTMLInputElement>("provider-key").type).toBe("password");
  type("provider-key", " sk-1234 ");
  type("provider-model", "qwen/qwen3:8b");
  const works = host.handlers.set_provider_key;
  host.handlers.set_provider_key = () => {
    throw new Error("this is not a key");
  };
  fireEvent.click(screen.getByTestId("provider-save"));
  expect((await screen.findByRole("alert")).textContent).toBe("This is not a key");
  // Another name would leave behind what is saved.
  expect(screen.queryByTestId("provider-name")).toBeNull();
  expect(screen.queryByTestId("provider-preset")).toBeNull();
  expect(within(screen.getByTestId("provider-form")).getByRole("heading").textContent).toBe("ollama");
  host.handlers.set_provider_key = works as never;
  fireEvent.click(screen.getByTestId("provider-save"));
  await screen.findByText("ollama saved. desk uses it from the next call on.");
  const provider = { name: "ollama", providerType: "openai", baseUrl: "http://127.0.0.1:11434/v1" };
  expect(asked).toEqual([
    ["save_provider", provider],
    ["save_provider", { ...provider, version: "v2" }], // what the first attempt saved
    ["set_provider_key", { provider: "ollama", key: "sk-1234" }],
    ["save_model", { name: "qwen-qwen3-8b", model: { provider: "ollama", id: "qwen/qwen3:8b" } }],
  ]);
  expect(document.documentElement.outerHTML).not.toContain("sk-1234");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("button", { name: "Add a provider" })));
});

test("adopts the provider that an attempt without an answer saved, and no other", async () => {
  const list: Listed = { providers: [acme], defaultModel: "demo" };
  const { host, asked } = show(list);
  await click("Add a provider");
  type("provider-preset", "ollama");
  type("provider-key", "sk-1234");
  const url = screen.getByTestId<HTMLInputElement>("provider-url").value;
  host.handlers.save_provider = () => {
    throw new Error("the connection was lost");
  };
  fireEvent.click(screen.getByTestId("provider-save"));
  await screen.findByText(/the connection was lost/i);
  host.handlers.save_provider = () => {
    throw new ApiError(ApiKind.conflict, "there is a provider ollama already");
  };
  list.providers.push({ ...acme, name: "ollama", baseUrl: "https://other.example/v1" });
  fireEvent.click(screen.getByTestId("provider-save"));
  await screen.findByText(/there is a provider ollama already/i);
  expect(asked).toEqual([]);
  list.providers[1] = { ...acme, name: "ollama", baseUrl: url };
  fireEvent.click(screen.getByTestId("provider-save"));
  await waitFor(() => expect(asked).toEqual([["set_provider_key", { provider: "ollama", key: "sk-1234" }]]));
});

test("another preset keeps what was typed, but no key for another server", async () => {
  show({ providers: [acme], defaultModel: "demo" });
  await click("Add a provider");
  const value = (testId: string) => screen.getByTestId<HTMLInputElement>(testId).value;
  type("provider-key", "sk-1234");
  type("provider-preset", "ollama");
  expect([value("provider-name"), value("provider-key")]).toEqual(["ollama", ""]);
  type("provider-name", "mine");
  type("provider-url", "https://mine.example/v1");
  type("provider-key", "sk-1234");
  type("provider-preset", "openrouter");
  expect(["provider-name", "provider-url", "provider-key"].map(value)).toEqual([
    "mine",
    "https://mine.example/v1",
    "sk-1234",
  ]);
});

test("changes the address of a provider by its version, and says what happens to the key", async () => {
  const { asked } = show({ providers: [acme], savedModels: [large], defaultModel: "large" });
  await click("Edit provider acme");
  expect(screen.getByTestId("provider-form").textContent).toContain("removes the key");
  expect(screen.queryByTestId("provider-key")).toBeNull();
  type("provider-url", "https://other.example/v1");
  fireEvent.click(screen.getByTestId("provider-save"));
  await waitFor(() =>
    expect(asked).toEqual([
      ["save_provider", { name: "acme", version: "v1", providerType: "openai", baseUrl: "https://other.example/v1" }],
    ]),
  );
});

test("adds, changes, tests, chooses and removes models", async () => {
  const { asked } = show({ providers: [acme], savedModels: [large], defaultModel: "demo" });
  await click("Edit model large");
  type("model-window", "1000");
  type("model-price-input", "-1");
  expect(screen.getByTestId<HTMLButtonElement>("model-save").disabled).toBe(true);
  type("model-price-input", "2.5");
  for (const [field, text] of [
    ["model-window", "200k"],
    ["model-window", "1.5"],
    ["model-price-output", "1e"],
  ] as const) {
    type(field, text);
    expect(screen.getByTestId<HTMLInputElement>(field).value).toBe(text);
    expect(screen.getByTestId(field).getAttribute("aria-invalid")).toBe("true");
    expect(screen.getByTestId<HTMLButtonElement>("model-save").disabled).toBe(true);
    type(field, field === "model-window" ? "1000" : "");
  }
  fireEvent.click(screen.getByTestId("model-save"));
  await screen.findByText("Model large saved.");
  // What the form does not show is kept.
  expect(asked.pop()).toEqual([
    "save_model",
    {
      name: "large",
      version: "m1",
      model: { provider: "acme", id: "large-1", maxTokens: 5, contextWindow: 1000, priceInput: 2.5, priceOutput: 0 },
    },
  ]);
  await click("Add a model to acme");
  type("model-id", "large");
  fireEvent.click(screen.getByTestId("model-save"));
  await screen.findByText("Model large-2 saved.");
  await click("Test model large");
  expect((await screen.findByTestId("model-problem")).textContent).toBe("It is away.");
  await click("Make default: large");
  await screen.findByText("New sessions use large.");
  await click("Remove model large");
  fireEvent.click(within(screen.getAllByRole("dialog").at(-1) as HTMLElement).getByRole("button", { name: "Remove" }));
  await screen.findByText("Model large removed.");
  await click("Remove provider acme");
  fireEvent.click(within(screen.getAllByRole("dialog").at(-1) as HTMLElement).getByRole("button", { name: "Remove" }));
  await screen.findByText("Provider acme removed.");
  expect(asked.slice(-2)).toEqual([
    ["remove_model", { name: "large", version: "m1" }],
    ["remove_provider", { name: "acme", version: "v1" }],
  ]);
});

test("says whether a model accepts images, or leaves it to the host", async () => {
  const { asked } = show({
    providers: [{ ...acme, models: ["large", "small"] }],
    savedModels: [large, { ...large, name: "small", model: { ...large.model, images: true } }],
    defaultModel: "demo",
  });
  const choose = async (name: string, before: string, after: string) => {
    await click(`Edit model ${name}`);
    expect(screen.getByTestId<HTMLSelectElement>("model-images").value).toBe(before);
    type("model-images", after);
    fireEvent.click(screen.getByTestId("model-save"));
    await screen.findByText(`Model ${name} saved.`);
    return (asked.pop()?.[1] as Requests["save_model"]["request"] | undefined)?.model.images;
  };
  expect(await choose("large", "", "no")).toBe(false);
  expect(await choose("small", "yes", "")).toBeUndefined();
});

test("a model without its provider can be removed", async () => {
  const { asked } = show({
    providers: [],
    savedModels: [{ ...large, problem: "It has no provider." }],
    defaultModel: "",
  });
  await click("Remove model large");
  expect(screen.getByTestId("model-problem").textContent).toBe("It has no provider.");
  expect(screen.queryByTestId("model-edit")).toBeNull();
  fireEvent.click(within(screen.getAllByRole("dialog").at(-1) as HTMLElement).getByRole("button", { name: "Remove" }));
  await screen.findByText("Model large removed.");
  expect(asked).toEqual([["remove_model", { name: "large", version: "m1" }]]);
});

test("offers no change of what config.toml sets", async () => {
  const { version: _, baseUrl: __, ...rest } = acme;
  const fixed: Provider = { ...rest, source: "config.toml" };
  show({ providers: [fixed], defaultModel: "other", defaultSource: "config.toml" });
  await screen.findByRole("button", { name: "Add a model to acme" });
  for (const id of ["provider-edit", "provider-remove", "model-edit", "model-remove", "model-default"]) {
    expect(screen.queryByTestId(id)).toBeNull();
  }
  expect(screen.getByTestId("model-test")).toBeTruthy();
});

test.each<[string, Listed, Grant[]]>([
  ["an older host", { providers: [acme] }, ["view", "approve", "manage"]],
  ["a browser that may not approve", { providers: [acme], defaultModel: "large" }, ["view", "manage"]],
])("%s offers no changes", async (_, list, grants) => {
  show(list, grants);
  expect((await screen.findByTestId("provider")).textContent).toContain("Model: large");
  expect(screen.queryByTestId("add-provider")).toBeNull();
  expect(screen.queryByTestId("add-model")).toBeNull();
});

test("a model has the name of its provider if its id has no usable letters", () => {
  expect(modelName("模型", "acme", ["acme"])).toBe("acme-2");
  expect(modelName("qwen/qwen3", "acme", [])).toBe("qwen-qwen3");
});

test("a name has the letters that the host accepts", () => {
  expect(freeName("qwen/qwen3:8b", [])).toBe("qwen-qwen3-8b");
  expect(freeName("@cf/meta", [])).toBe("cf-meta");
  expect(freeName("a", ["a", "a-2"])).toBe("a-3");
  expect(freeName("x".repeat(70), ["x".repeat(64)])).toBe(`${"x".repeat(62)}-2`);
});
