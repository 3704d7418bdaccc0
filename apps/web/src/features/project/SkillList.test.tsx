import "../../app/testing/browser";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { ApiError } from "../../api/contract";
import { ApiKind, type Requests } from "../../api/types";
import { FakeScorel } from "../../app/testing/fake-scorel";
import { SkillList } from "./SkillList";

function show(answer: () => Requests["list_skills"]["response"], mayManage = false) {
  const host = new FakeScorel().host("dev_one");
  let asked = 0;
  host.handlers.list_skills = ({ projectId }) => {
    expect(projectId).toBe("p1");
    asked++;
    return answer();
  };
  const { container } = render(
    <QueryClientProvider client={new QueryClient()}>
      <SkillList host={host} projectId="p1" mayManage={mayManage} />
    </QueryClientProvider>,
  );
  host.handlers.get_skill = ({ name }) => ({ skill: { name, description: "", scope: "project" }, text: "Be brief." });
  return { host, container, asked: () => asked };
}

test("lists skills with their source, and the skipped files", async () => {
  show(() => ({
    skills: [
      {
        name: "commit",
        description: "Writes a commit message",
        scope: "project",
        manual: true,
        path: "/site/.scorel/skills/commit/SKILL.md",
      },
      { name: "simplify", description: "Looks for a simpler form", scope: "user" },
    ],
    notes: ["/site/.scorel/skills/bad/SKILL.md: the skill is left out: it has no description"],
  }));
  const [commit, simplify] = await screen.findAllByTestId("skill");
  expect(commit?.textContent).toBe(
    "/committhis projectonly by nameWrites a commit message/site/.scorel/skills/commit/SKILL.mdShow text",
  );
  expect(simplify?.textContent).toBe("/simplifyall projectsLooks for a simpler form");
  expect(screen.getByTestId("skill-notes").textContent).toContain("it has no description");
  fireEvent.click(screen.getByRole("button", { name: "Show text of commit" }));
  expect((await screen.findByTestId("skill-text")).textContent).toBe("Be brief.");
});

test("reports that there are none, and shows nothing on an older host", async () => {
  show(() => ({ skills: [] }));
  await screen.findByText("This project has no skills.");
  const { container, asked } = show(() => {
    throw new ApiError(ApiKind.unknown_request, "unknown request list_skills");
  });
  await waitFor(() => expect(asked()).toBe(1));
  await waitFor(() => expect(container.textContent).toBe(""));
});

test("a skill is disabled and enabled", async () => {
  let disabled = false;
  const { host } = show(() => ({ skills: [{ name: "commit", description: "", scope: "user", disabled }] }), true);
  host.handlers.set_skill_enabled = ({ name, enabled }) => {
    disabled = !enabled;
    return { skill: { name, description: "", scope: "user", disabled } };
  };
  fireEvent.click(await screen.findByRole("button", { name: "Disable commit" }));
  await screen.findByText("Disabled the skill commit.");
  expect(screen.getByTestId("skill").textContent).toContain("disabled");
  fireEvent.click(screen.getByRole("button", { name: "Enable commit" }));
  await screen.findByText("Enabled the skill commit.");
  const asked = host.requests.filter(({ name }) => name === "set_skill_enabled").map(({ fields }) => fields);
  expect(asked).toEqual([
    { projectId: "p1", name: "commit", enabled: false },
    { projectId: "p1", name: "commit", enabled: true },
  ]);
});
