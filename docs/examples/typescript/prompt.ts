// Sends a prompt to a host and prints the last message of the agent:
//
//	SCOREL_ADDR=127.0.0.1:7430 SCOREL_TOKEN=... node prompt.js FOLDER TEXT
//
// The types of all requests come from the package @scorel/protocol.
import { randomUUID } from "node:crypto";
import type { Requests } from "@scorel/protocol/gen/api";

const { SCOREL_ADDR: address, SCOREL_TOKEN: token } = process.env;
const [folder, text] = process.argv.slice(2);
if (!address || !token || !folder || !text) {
  throw new Error("usage: SCOREL_ADDR=... SCOREL_TOKEN=... node prompt.js FOLDER TEXT");
}

/** Sends one request. A refused one is an error with the message of the host. */
async function call<Name extends keyof Requests>(
  name: Name,
  fields: Requests[Name]["request"],
  query = "",
): Promise<Requests[Name]["response"]> {
  const response = await fetch(`http://${address}/v1/${name}${query}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(fields),
  });
  const answer = (await response.json()) as { error?: { kind: string; message: string } };
  if (answer.error) {
    throw new Error(`${name}: ${answer.error.message}`);
  }
  return answer as Requests[Name]["response"];
}

const { projects } = await call("list_projects", {});
const project = projects.find(({ path }) => path === folder);
if (!project) {
  throw new Error(`${folder} is not a project of this host`);
}
// A key of ours makes it safe to repeat a request whose answer was lost.
const clientKey = randomUUID();
const { session } = await call("create_session", { projectId: project.id, clientKey });
// With wait=turn, which only HTTP has, the answer also has the last message of the turn.
const answer = await call("send_prompt", { sessionId: session.id, clientKey, text }, "?wait=turn");
console.log((answer as { turn?: { text: string } }).turn?.text);
