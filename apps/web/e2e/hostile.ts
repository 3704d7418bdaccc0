// Text that runs or fetches something wherever a page trusts it. `breached` is the canary's.

/** A server that must not be contacted. */
export const elsewhere = "https://elsewhere.example";

export const html = [
  `<script>breached("script")</script>`,
  `<img src=x onerror="breached('image')">`,
  `<svg onload="breached('svg')"><script>breached("script in svg")</script><foreignObject><iframe/></foreignObject></svg>`,
  `<iframe srcdoc="<script>parent.breached('frame')</script>"></iframe><object data="javascript:breached('object')"></object>`,
  `<details open ontoggle="breached('toggle')"><summary>x</summary></details><input autofocus onfocus="breached('focus')">`,
  `<style>@import url(${elsewhere}/style.css); * { background: url(${elsewhere}/back.png) }</style>`,
  `<base href="${elsewhere}/"><meta http-equiv="refresh" content="0;url=${elsewhere}/"><link rel=stylesheet href="${elsewhere}/a.css">`,
  `"><svg/onload=breached('attribute')>`,
  `</textarea></title></script><script>breached("closed")</script>`,
].join("\n");

export const markdown = [
  `[one](javascript:breached("link")) [two](JaVa&#x53;cript:breached("entity")) [three](<\u0001javascript:breached("control")>)`,
  `[four](data:text/html,<script>breached("data")</script>) [five](vbscript:breached) [six](blob:${elsewhere}/x) [seven][ref]`,
  `<javascript:breached("auto")> <data:text/html,breached>`,
  `![eight](${elsewhere}/pixel.png) ![nine](javascript:breached("picture")) ![ten](data:image/svg+xml,<svg/onload=breached("picture")>)`,
  `[![eleven](${elsewhere}/inner.png)](javascript:breached("outer"))`,
  `[ref]: javascript:breached("reference") "\\"><img src=x onerror=breached('title')>"`,
  `\`\`\`html"><img src=x onerror=breached("info")>\n${html}\n\`\`\``,
  "```__proto__\nconstructor\n```",
  `| <img src=x onerror=breached("cell")> | [x](javascript:breached("cell")) |\n|---|---|\n| ${"`<script>`"} | [^1] |`,
  `[^1]: <img src=x onerror=breached("note")>`,
].join("\n\n");

/**
 * Requests of a program to a terminal: name, link, clipboard, answers, pictures, and HTML in case escapes become it.
 */
export const ansi = [
  `\x1b]0;<img src=x onerror=breached("name")>\x07`,
  `\x1b]8;;javascript:breached("osc8")\x1b\\press here\x1b]8;;\x1b\\`,
  `\x1b]52;c;YnJlYWNoZWQ=\x07\x1b]1337;File=inline=1:PHN2Zy8+\x07\x1b]50;url=${elsewhere}\x07`,
  `\x1bPq"1;1;9;9#0;2;0;0;0#0~~\x1b\\\x1b[6n\x1b[21t`,
  `\x1b[31m<img src=x onerror=breached("colored")>\x1b[0m\u009b31m</span><script>breached("c1")</script>`,
].join("\n");

export const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="breached('file')"><script>breached("file")</script><image href="${elsewhere}/a.png"/></svg>\n`;

/** File names cannot have a slash. */
export const fileNames = [
  `<img src=x onerror=breached("file name")>.md`,
  `"><svg onload=breached('name')>.svg`,
  "\u202egpj.exe",
];

/** Returns messages that a session file may contain, whoever wrote it. */
export function hostileMessages(): object[] {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
  const assistant = (content: object[], stopReason = "stop") => ({ role: "assistant", content, stopReason, usage });
  const text = (value: string) => ({ type: "text", text: value });
  const picture = (mimeType: string, bytes: string) => ({
    type: "image",
    mimeType,
    data: Buffer.from(bytes).toString("base64"),
  });
  const diff = `--- a/${fileNames[0]}\n+++ b/${fileNames[0]}\n@@ -1 +1 @@ ${html.split("\n")[1]}\n-${svg.trim()}\n+${html.split("\n")[0]}\n`;
  return [
    { role: "user", content: [text(`${html}\n${markdown}`), picture("image/svg+xml", svg), picture("image/png", svg)] },
    assistant([{ type: "thinking", thinking: `${html}\n\n${markdown}` }, text(markdown)]),
    assistant([text(html)]),
    assistant(
      [
        { type: "toolCall", id: "h1", name: "bash", arguments: { command: `printf '${html}'`, description: html } },
        {
          type: "toolCall",
          id: "h2",
          name: "edit_file",
          arguments: { path: fileNames[0], old_text: svg, new_text: html },
        },
        {
          type: "toolCall",
          id: "h3",
          name: `x"><img src=x onerror=breached("tool")>`,
          arguments: { __proto__: null, html },
        },
      ],
      "toolUse",
    ),
    { role: "toolResult", toolCallId: "h1", toolName: "bash", isError: false, content: [text(ansi)] },
    {
      role: "toolResult",
      toolCallId: "h2",
      toolName: "edit_file",
      isError: false,
      content: [text(diff)],
      details: { diff },
    },
    {
      role: "toolResult",
      toolCallId: "h3",
      toolName: "x",
      isError: true,
      content: [text(html), picture("image/gif", html)],
    },
    { ...assistant([text("The end.")], "error"), errorMessage: html },
    assistant([text("This is the last one.")]),
  ];
}
