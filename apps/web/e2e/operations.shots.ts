import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { test } from "./harness";

// Screenshots of the progress of operations, with a provider that calls a script of a skill.

const folder = process.env.SHOTS || "test-results/shots";

const script = `say() { echo "{\\"type\\":\\"process_event\\",$1}" >&2; }
say '"stage":"pages","message":"Reading report.pdf","detail":"42 pages, 3 pictures"'
for n in 1 2 3 4 5 6 7; do say "\\"stage\\":\\"pages\\",\\"message\\":\\"Converting the pages of a report with a rather long name\\",\\"current\\":$n,\\"total\\":12"; done
say '"stage":"pages","level":"warn","message":"2 pages have no text","payload":{"pages":[4,9],"apiKey":"x"}'
say '"stage":"pages","message":"Converting the rest","current":7,"total":12'
i=0; while [ ! -e go ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done
for n in $(seq 1 60); do say "\\"stage\\":\\"write\\",\\"message\\":\\"Page $n\\",\\"current\\":$n,\\"total\\":60"; done
echo "report.md has 42 pages"
`;

/** Answers the first call of each turn with a call of the script, the next with a sentence. */
function provider(): Promise<Server> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      const { messages } = JSON.parse(body) as { messages: { role: string }[] };
      const call = {
        index: 0,
        id: "call_1",
        type: "function",
        function: {
          name: "execute_skill",
          arguments: '{"name":"pdf","script":"convert.sh","arguments":["report.pdf"]}',
        },
      };
      const delta =
        messages.at(-1)?.role === "tool" ? { content: "The report is in report.md." } : { tool_calls: [call] };
      const reason = messages.at(-1)?.role === "tool" ? "stop" : "tool_calls";
      const chunks = [
        { delta, finish_reason: null },
        { delta: {}, finish_reason: reason },
      ];
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      for (const chunk of chunks) {
        const data = { id: "x", object: "chat.completion.chunk", model: "fake", choices: [{ index: 0, ...chunk }] };
        response.write(`data: ${JSON.stringify(data)}\n\n`);
      }
      response.end("data: [DONE]\n\n");
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

for (const [name, viewport] of Object.entries({
  phone: { width: 390, height: 844 },
  desk: { width: 1280, height: 800 },
})) {
  for (const colorScheme of ["light", "dark"] as const) {
    test(`operations, ${name}, ${colorScheme}`, async ({ world, visitor }) => {
      const server = await provider();
      const { port } = server.address() as AddressInfo;
      const config = `default_model = "main"\n[providers.fake]\ntype = "openai"\nbase_url = "http://127.0.0.1:${port}/v1"\n[models.main]\nprovider = "fake"\nid = "fake"\n[permissions]\nmode = "bypass"\n`;
      await world.killHost();
      writeFileSync(join(world.scorelHome, "config.toml"), config);
      const skill = join(world.project, ".agents", "skills", "pdf");
      mkdirSync(skill, { recursive: true });
      world.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Converts.\n---\nRun convert.sh.\n");
      world.write(".agents/skills/pdf/convert.sh", script);
      await world.startHost();
      const anna = await visitor({ viewport, colorScheme });
      const picture = (what: string) =>
        anna.page.screenshot({
          path: join(folder, `operations-${what}-${name}-${colorScheme}.png`),
          animations: "disabled",
        });
      await anna.pair();
      await anna.addProject();
      expect((await world.scorel(["project", "trust", world.project])).code).toBe(0);
      await anna.newSession();
      await anna.prompt("convert report.pdf");
      await anna.page.getByRole("progressbar").waitFor();
      await expect(anna.at("operation").first()).toContainText("Converting the rest");
      await picture("running");
      world.write("go", "");
      await anna.rest();
      await anna.at("tool-card").last().getByRole("button").first().click();
      await picture("card");
      await anna.at("operation").getByRole("button").first().click();
      await picture("log");
      await anna.page.getByRole("button", { name: "Whole log" }).click();
      await expect(anna.at("process-log")).toContainText("Page 20");
      server.close();
    });
  }
}
