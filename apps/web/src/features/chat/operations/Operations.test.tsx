import "../../../app/testing/browser";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Timelines } from "../../../api/timelines";
import type { Process, ProcessLine, ProcessRecord } from "../../../api/types";
import { LogContext, type LogReader, ProcessContext, TimelineContext } from "../context/live-context";
import { Operations } from "./Operations";

function line(sequence: number, message: string, more: Partial<ProcessLine> = {}): ProcessLine {
  return {
    version: 1,
    operationId: "op_1",
    targetType: "skill",
    source: "convert",
    status: "running",
    level: "info",
    message,
    timestamp: 1000 + sequence * 500,
    sequence,
    ...more,
  };
}

function running(last: ProcessLine): Process {
  return { toolCallId: "c1", startedAt: 1000, processLogRef: "plog:s:op_1", last };
}

function record(lines: ProcessLine[], omitted?: number): ProcessRecord {
  return {
    operationId: "op_1",
    toolCallId: "c1",
    targetType: "skill",
    source: "convert",
    status: "failed",
    startedAt: 1000,
    endedAt: 9000,
    lines,
    ...(omitted ? { omitted } : {}),
    processLogRef: "plog:s:op_1",
  };
}

const noLog: LogReader = () => Promise.reject(new Error("no log"));

function show(processes: Process[], records: ProcessRecord[], open: boolean, read = noLog) {
  render(
    <LogContext value={read}>
      <ProcessContext value={processes}>
        <Operations id="c1" records={records} open={open} />
      </ProcessContext>
    </LogContext>,
  );
}

describe("Operations", () => {
  it("shows the progress of an operation in a closed card", () => {
    show([running(line(3, "Page done", { stage: "pages", current: 3, total: 12, repeats: 3 }))], [], false);
    expect(screen.getByTestId("operation").textContent).toBe("pagesPage done×3 times3 / 12Timeline");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("25");
  });

  it("has no bar without known progress, and shows nothing of other calls", () => {
    show([running(line(1, "Busy")), { ...running(line(1, "Other")), toolCallId: "c2" }], [], false);
    expect(screen.queryByRole("progressbar")).toBeNull();
    expect(screen.getAllByTestId("operation")).toHaveLength(1);
  });

  it("keeps an operation that only began and ended for an opened card", () => {
    show([], [{ ...record([line(1, "a"), line(2, "b")]), status: "completed" }], false);
    expect(screen.queryByTestId("operation")).toBeNull();
  });

  it("folds the log, shows how much is omitted, and loads the whole log by its reference", async () => {
    const asked: [string, number][] = [];
    const pages = [
      { lines: [line(1, "one"), line(2, "two")], next: 80, more: true },
      { lines: [line(3, "three")], next: 120 },
    ];
    const lines = Array.from({ length: 12 }, (_, i) => line(i < 10 ? i + 1 : i + 91, `step ${i}`));
    show([], [record(lines, 90)], true, (ref, from) => {
      asked.push([ref, from]);
      return Promise.resolve(pages[asked.length - 1] as (typeof pages)[0]);
    });
    expect(screen.queryByTestId("process-log")).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: /convert: 102 steps/ }));
    expect(screen.getByTestId("process-log").textContent).toContain("90 steps are not shown here");
    fireEvent.click(screen.getByRole("button", { name: "Whole log" }));
    await waitFor(() => expect(screen.getByTestId("process-log").textContent).toContain("two"));
    expect(screen.getByTestId("process-log").textContent).not.toContain("left out");
    fireEvent.click(screen.getByRole("button", { name: "Load more" }));
    await waitFor(() => expect(screen.getByTestId("process-log").textContent).toContain("three"));
    expect(screen.queryByRole("button", { name: "Load more" })).toBeNull();
    expect(asked).toEqual([
      ["plog:s:op_1", 0],
      ["plog:s:op_1", 80],
    ]);
  });

  it("folds ended operations under a closed card", () => {
    show([], [record([line(1, "a"), line(2, "b"), line(3, "c")])], false);
    expect(screen.getByRole("button", { name: /convert: 3 steps/ }).getAttribute("aria-expanded")).toBe("false");
    expect(screen.queryByTestId("process-log")).toBeNull();
  });

  it("follows the log while it is open", async () => {
    const asked: number[] = [];
    const pages = new Map([
      [0, { lines: [line(1, "one"), line(2, "two")], next: 80, more: true }],
      [80, { lines: [line(3, "three")], next: 120 }],
      [120, { lines: [line(4, "four")], next: 160 }],
      [160, { lines: [], next: 160 }],
    ]);
    const read: LogReader = (_, from) => {
      asked.push(from);
      return Promise.resolve(pages.get(from) as { lines: ProcessLine[]; next: number });
    };
    const heard = new Map([["op_1", [line(3, "three"), line(5, "heard", { detail: "with detail" })]]]);
    const { rerender } = render(page([running(line(3, "three"))], read, heard));
    fireEvent.click(screen.getByRole("button", { name: "Timeline" }));
    await waitFor(() => expect(texts()).toEqual(["one", "two", "three", "heard"]));
    rerender(page([running(line(5, "heard"))], read, heard));
    await waitFor(() => expect(texts()).toEqual(["one", "two", "three", "four", "heard"]));
    expect(screen.getByTestId("process-log").textContent).toContain("with detail");
    expect(asked).toEqual([0, 80, 120]);
  });

  it("keeps an opened timeline open when the operation ends", async () => {
    const { rerender } = render(page([running(line(2, "Busy"))], noLog, new Map([["op_1", [line(2, "Busy")]]])));
    fireEvent.click(screen.getByRole("button", { name: "Timeline" }));
    await waitFor(() => expect(texts()).toEqual(["Busy"]));
    rerender(page([], noLog, new Map(), [record([line(1, "Began"), line(2, "Busy"), line(3, "Broke")])]));
    await waitFor(() => expect(texts()).toEqual(["Began", "Busy", "Broke"]));
  });

  it("reports why a log cannot be read, and shows the known lines", async () => {
    render(page([running(line(1, "Busy"))], noLog, new Map([["op_1", [line(1, "Busy")]]])));
    fireEvent.click(screen.getByRole("button", { name: "Timeline" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).not.toBe(""));
    expect(texts()).toEqual(["Busy"]);
  });
});

const texts = () => screen.getAllByTestId("log-message").map((each) => each.textContent);

function page(processes: Process[], read: LogReader, timelines: Timelines, records: ProcessRecord[] = []) {
  return (
    <LogContext value={read}>
      <ProcessContext value={processes}>
        <TimelineContext value={timelines}>
          <Operations id="c1" records={records} open={false} />
        </TimelineContext>
      </ProcessContext>
    </LogContext>
  );
}
