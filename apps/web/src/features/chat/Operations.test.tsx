import "../../app/testing/browser";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Process, ProcessLine, ProcessRecord } from "../../api/types";
import { LogContext, type LogReader, ProcessContext } from "./live-context";
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
  it("shows how far an operation is in a closed card", () => {
    show([running(line(3, "Page done", { stage: "pages", current: 3, total: 12, repeats: 3 }))], [], false);
    expect(screen.getByTestId("operation").textContent).toBe("pagesPage done×3 times3 / 12");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("25");
  });

  it("has no bar where nothing is known, and shows nothing of other calls", () => {
    show([running(line(1, "Busy")), { ...running(line(1, "Other")), toolCallId: "c2" }], [], false);
    expect(screen.queryByRole("progressbar")).toBeNull();
    expect(screen.getAllByTestId("operation")).toHaveLength(1);
  });

  it("keeps ended operations for a card that is opened", () => {
    show([], [record([line(1, "a")])], false);
    expect(screen.queryByTestId("operation")).toBeNull();
  });

  it("folds the log, says what is left out, and loads the whole by its reference", async () => {
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
    expect(screen.getByTestId("process-log").textContent).toContain("90 steps are left out here");
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

  it("says why a log cannot be read", async () => {
    show([running(line(1, "Busy"))], [], true);
    fireEvent.click(screen.getByRole("button", { name: "Log so far" }));
    fireEvent.click(screen.getByRole("button", { name: "Load the log" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).not.toBe(""));
  });
});
