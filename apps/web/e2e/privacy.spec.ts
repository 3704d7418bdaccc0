import { expect, test } from "./harness";

/** Unique words; one is sent in, one comes from a file, one from a command. */
const secrets = {
  prompt: "Quellwasserturbine-7319",
  file: "Morgennebelkante-2846",
  command: "Schieferbruchhalde-9052",
};

test("the host keeps what was said; the relay has no trace of it, and nothing readable leaves the browser", async ({
  world,
  recorder,
  visitor,
}) => {
  world.write("note.txt", `${secrets.file}\n`);
  // Its connection belongs to a shared worker, whose frames no page shows.
  const anna = await visitor({ proxy: recorder.proxy });
  await anna.settle();
  await anna.prompt(secrets.prompt);
  await anna.rest();
  await anna.prompt("read note.txt");
  await anna.rest();
  await anna.prompt(`run env echo ${secrets.command}`);
  await anna.at("approval-allow").click();
  await anna.expectTruth();

  const lines = anna.log();
  const prompts = lines.filter((line) => line.message?.role === "user");
  expect(prompts.map((line) => line.clientId)).toEqual([anna.clientId, anna.clientId, anna.clientId]);
  expect(JSON.stringify(prompts[0])).toContain(secrets.prompt);
  for (const secret of Object.values(secrets)) {
    expect(JSON.stringify(lines)).toContain(secret);
  }

  const [, ...secretHalf] = anna.code.split("-");
  const hidden = [...Object.values(secrets), anna.sessionId, world.project, secretHalf.join("-"), secretHalf.join("")];
  const sent = Buffer.concat(recorder.frames);
  expect(sent.includes(anna.clientId), "the frames are those of the page's connection").toBe(true);
  for (const [name, bytes] of [
    ["what the browser sent", sent],
    ["what it received", Buffer.concat(recorder.received)],
  ] as const) {
    for (const text of hidden) {
      expect(found(bytes, text), `${text} in ${name}`).toEqual([]);
    }
  }
  // The address of a session names it.
  for (const text of hidden.filter((each) => each !== anna.sessionId)) {
    expect(found(Buffer.concat(recorder.requests), text), `${text} in a request`).toEqual([]);
  }
  expect(recorder.strangers).toEqual([]);

  // An anonymous connection is logged at the lowest level only.
  await anna.page.evaluate(async (address) => {
    const socket = new WebSocket(address, "scorel.v1");
    await new Promise((resolve) => socket.addEventListener("message", resolve));
    socket.close();
  }, `ws://127.0.0.1:${world.port}/v1/connect`);
  await expect.poll(() => world.relayLog, "the log is at its most talkative").toContain('"level":"DEBUG"');
  // Killed, so that data not yet merged into the database is searched too.
  await world.killRelay();
  const relay = [...world.relayFiles(), ["the log", Buffer.from(world.relayLog)] as const];
  expect(relay.map(([name]) => name)).toContain("relay.db");
  const all = Buffer.concat(relay.map(([, bytes]) => bytes));
  expect(all.includes(anna.clientId), "the search looks in the right place").toBe(true);

  for (const [name, bytes] of relay) {
    for (const text of hidden) {
      expect(found(bytes, text), `${text} in ${name}`).toEqual([]);
    }
  }
});

/** Returns the encodings of a text, plain or in base64 at any offset, that the bytes contain. */
function found(bytes: Buffer, text: string): string[] {
  const haystack = bytes.toString("latin1").toLowerCase();
  return forms(text).filter((form) => haystack.includes(form.toLowerCase()));
}

function forms(text: string): string[] {
  const shifted = [0, 1, 2].map((offset) => {
    const whole = Buffer.from("\0".repeat(offset) + text).toString("base64");
    return whole.slice(offset === 0 ? 0 : offset + 1).replace(/.{0,3}=*$/, ""); // the ends depend on the neighboring bytes
  });
  return [text, ...shifted, ...shifted.map((each) => each.replaceAll("+", "-").replaceAll("/", "_"))];
}

test("the search for a trace finds one", () => {
  for (const lead of ["", "a", "ab", "abc"]) {
    const coded = Buffer.from(`${lead}${secrets.prompt} and more`).toString("base64");
    expect(found(Buffer.from(`{"body":"${coded}"}`), secrets.prompt)).not.toEqual([]);
  }
  expect(found(Buffer.from(secrets.file), secrets.prompt)).toEqual([]);
});
