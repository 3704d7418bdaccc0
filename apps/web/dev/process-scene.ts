import { emptyLive } from "../src/api/projection";
import type { Process, ProcessLine, ProcessRecord } from "../src/api/types";
import { assistant, call, custom, result, user } from "../src/app/testing/builders";
import { unbroken } from "./texts";
import { chained, chat, dev, turn } from "./world";

const begun = Date.now() - 95_000;

function line(sequence: number, more: Partial<ProcessLine>): ProcessLine {
  return {
    version: 1,
    operationId: "op_0123456789abcdef",
    targetType: "skill",
    source: "pdf",
    status: "running",
    level: "info",
    message: "",
    timestamp: begun + sequence * 1400,
    sequence,
    ...more,
  } as ProcessLine;
}

const lines: ProcessLine[] = [
  line(1, { stage: "start", message: "convert.sh report.pdf" }),
  line(2, { stage: "pages", message: "Reading report.pdf", detail: "42 pages\n3 pictures" }),
  line(3, {
    stage: "pages",
    message: "2 pages have no text",
    level: "warn",
    payload: { pages: [4, 9], apiKey: "[redacted]" },
  }),
  line(4, {
    stage: "pages",
    message: `Fetching ${unbroken}`,
    repeats: 12,
    current: 5_242_880,
    total: 94_371_840,
  } as never),
  line(5, { stage: "write", message: "The folder is not writable", level: "error" }),
];

export const process = chat((session, scorel) => {
  scorel.host(dev).handlers.get_process_log = () => ({ lines, next: lines.length, more: false });
  const record: ProcessRecord = {
    operationId: "op_0123456789abcdee",
    toolCallId: "o1",
    targetType: "skill",
    source: "pdf",
    status: "failed",
    startedAt: begun,
    endedAt: begun + 95_000,
    lines,
    omitted: 1204,
    processLogRef: "log_1",
  } as ProcessRecord;
  const running = (n: number, last: Partial<ProcessLine>): Process =>
    ({ toolCallId: "o2", startedAt: begun, processLogRef: `log_${n}`, last: line(n, last) }) as Process;
  session.patch({
    entries: chained([
      user("Convert the reports."),
      assistant([call("o1", "execute_skill", { name: "pdf", script: "convert.sh", arguments: ["report.pdf"] })], {
        stopReason: "toolUse",
      }),
      custom("scorel.process", record),
      result("o1", "execute_skill", "report.md could not be written", true),
      assistant(
        [call("o2", "execute_skill", { name: "pdf", script: "convert.sh", arguments: ["second report.pdf"] })],
        {
          stopReason: "toolUse",
        },
      ),
    ]),
    live: {
      ...emptyLive(),
      turn,
      tools: [{ toolCallId: "o2", toolName: "execute_skill", output: "converting…\n" }],
      processes: [
        running(21, {
          stage: "pages",
          message: "Converting the pages of a report with a rather long name",
          current: 7,
          total: 12,
        }),
        running(22, { operationId: "op_2", stage: "fetch", message: unbroken, percent: 41.6, repeats: 3 } as never),
        running(23, { operationId: "op_3", message: "The server does not answer", level: "error" }),
      ],
    },
  });
});
