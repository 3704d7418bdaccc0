import "../../app/testing/browser";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { RuleForm } from "./RuleForm";

const warning = "the rule bash(tar *) allows tar to run other programs: confirm it, or add a narrower one";

async function submitted(kind: number, message: string) {
  const host = new FakeScorel().host("dev_one");
  host.handlers.add_rule = ({ rule, confirm }) =>
    confirm === rule
      ? { rule: { rule, kind: "allow", scope: "project", source: "permissions.json" } }
      : Promise.reject(new ApiError(kind, message));
  let added = 0;
  render(
    <RuleForm
      host={host}
      projectId="p1"
      limited={false}
      onAdded={async () => {
        added++;
      }}
    />,
  );
  const field = screen.getByTestId("rule-text") as HTMLInputElement;
  fireEvent.change(field, { target: { value: " bash(tar *) " } });
  fireEvent.click(screen.getByTestId("add-rule"));
  await screen.findByText((text) => text.includes(message.slice(8)));
  const asked = () => host.requests.filter(({ name }) => name === "add_rule").map(({ fields }) => fields);
  return { field, asked, added: () => added };
}

const request = { rule: "bash(tar *)", kind: "allow", projectId: "p1" };

test("a broad rule is added after a confirmation that shows it", async () => {
  const { field, asked, added } = await submitted(ApiKind.unconfirmed, warning);
  expect(screen.getByTestId("confirm-rule").textContent).toBe("bash(tar *)");
  expect(screen.getByText(/^The rule bash\(tar \*\) allows tar to run other programs/)).toBeTruthy();
  expect(screen.getByText("It applies in this project.")).toBeTruthy();
  expect(asked()).toEqual([request]);
  fireEvent.click(screen.getByRole("button", { name: "Add rule" }));
  await waitFor(() => expect(field.value).toBe(""));
  expect(asked()).toEqual([request, { ...request, confirm: "bash(tar *)" }]);
  expect(added()).toBe(1);
  await waitFor(() => expect(screen.queryByTestId("confirm-rule")).toBeNull());
});

test("Cancel adds nothing and keeps the text", async () => {
  const { field, asked, added } = await submitted(ApiKind.unconfirmed, warning);
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(screen.queryByTestId("confirm-rule")).toBeNull();
  expect(field.value).toBe(" bash(tar *) ");
  expect(asked()).toEqual([request]);
  expect(added()).toBe(0);
});

test("a missing grant is reported without a confirmation", async () => {
  const { field } = await submitted(ApiKind.not_allowed, "this needs the grant rules, which this device does not have");
  expect(screen.queryByTestId("confirm-rule")).toBeNull();
  expect(field.value).toBe(" bash(tar *) ");
});
