// Records the terminal client as an animated SVG, docs/pictures/terminal.svg: `npm run recording`, after `make build`. A
// real scorel runs in tmux with the demo model; the script types, and keeps each screen that differs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const columns = 84;
const rows = 24;
const root = new URL("../../../", import.meta.url).pathname;
const top = mkdtempSync(join(tmpdir(), "scorel-recording-"));
const project = join(top, "site");
mkdirSync(project);
writeFileSync(join(project, "index.html"), "<h1>Hello</h1>\n");
const env = {
  ...process.env,
  HOME: top,
  SCOREL_HOME: join(top, ".scorel"),
  SCOREL_MDNS: "off",
  LC_ALL: "C.UTF-8",
  PATH: `${join(root, "bin")}:${process.env.PATH}`,
};
const tmux = (...args) => execFileSync("tmux", ["-u", "-S", join(top, "tmux"), ...args], { env, encoding: "utf8" });

/** What was on the screen, and for how many milliseconds. */
const frames = [];

/** Keeps the screen for some time; `at` has the position of the cursor, or -1 if it is hidden. */
function show(milliseconds) {
  const screen = tmux("capture-pane", "-e", "-p");
  const [x, y, visible] = tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}")
    .trim()
    .split(" ")
    .map(Number);
  const at = visible ? `${x},${y}` : "";
  const last = frames.at(-1);
  if (last?.screen === screen && last.at === at) {
    last.time += milliseconds;
  } else {
    frames.push({ screen, at, time: milliseconds });
  }
}

async function type(text) {
  for (const letter of text) {
    tmux("send-keys", "-l", "--", letter);
    await pause(40);
    show(55);
  }
  show(350);
}

async function key(name) {
  tmux("send-keys", "--", name);
  await pause(30);
}

/** Shows what happens until the screen has a text. */
async function until(text) {
  for (let tries = 0; !tmux("capture-pane", "-p").includes(text); tries++) {
    if (tries > 600) {
      throw new Error(`the terminal never shows ${text}:\n${tmux("capture-pane", "-p")}`);
    }
    await pause(100);
    show(frames.length > 0 ? 60 : 0);
  }
  await pause(300);
  show(300);
}

async function play() {
  tmux(
    "-f",
    "/dev/null",
    "new-session",
    "-d",
    "-x",
    `${columns}`,
    "-y",
    `${rows}`,
    "-c",
    project,
    "env",
    "-u",
    "TMUX",
    "TERM=xterm-256color",
    "PS1=\\$ ",
    "COLORTERM=truecolor",
    "sh",
  );
  tmux("set", "-g", "status", "off");
  await until("$");
  await type("scorel");
  await key("Enter");
  await until("demo model, which is not an AI");
  show(1500);
  await type("write about.html: <h1>About us</h1>");
  await key("Enter");
  await until("y allow");
  show(2500);
  await key("y");
  await until("Created about.html");
  show(2500);
}

const palette = ["#1c2420", "#ff978b", "#5fd3a6", "#f2bf66", "#8dbcf5", "#e29ad6", "#7fd1d6", "#d5ddd8"];
const bright = ["#94a299", "#ffb3aa", "#83e0bc", "#ffd98f", "#b4d3fa", "#f0bfe7", "#a9e4e8", "#ffffff"];

/** The color of an index of the 256 colors. */
function indexed(n) {
  if (n < 16) {
    return n < 8 ? palette[n] : bright[n - 8];
  }
  if (n > 231) {
    const level = 8 + (n - 232) * 10;
    return `rgb(${level},${level},${level})`;
  }
  const step = (of) => (of === 0 ? 0 : 55 + of * 40);
  return `rgb(${step(Math.floor((n - 16) / 36))},${step(Math.floor((n - 16) / 6) % 6)},${step((n - 16) % 6)})`;
}

const plain = { color: "", back: "", bold: false, dim: false, reverse: false };

/** Applies the numbers of one SGR sequence. */
function styled(before, numbers) {
  let style = { ...before };
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i];
    const which = n === 38 ? "color" : "back";
    if (n === 0) {
      style = { ...plain };
    } else if (n === 38 || n === 48) {
      const direct = numbers[i + 1] === 2;
      style[which] = direct ? `rgb(${numbers.slice(i + 2, i + 5).join(",")})` : indexed(numbers[i + 2]);
      i += direct ? 4 : 2;
    } else if (n === 1 || n === 2 || n === 7) {
      style[["bold", "dim", "", "", "", "", "reverse"][n - 1]] = true;
    } else if (n === 22) {
      style.bold = false;
      style.dim = false;
    } else if (n === 27) {
      style.reverse = false;
    } else if (n === 39 || n === 49) {
      style[n === 39 ? "color" : "back"] = "";
    } else if ((n >= 30 && n <= 37) || (n >= 40 && n <= 47)) {
      style[n < 40 ? "color" : "back"] = palette[n % 10];
    } else if ((n >= 90 && n <= 97) || (n >= 100 && n <= 107)) {
      style[n < 100 ? "color" : "back"] = bright[n % 10];
    }
  }
  return style;
}

const cell = { width: 8.4, height: 18 };
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const number = (n) => `${Math.round(n * 10) / 10}`;

const start = String.fromCharCode(27);
const sequence = new RegExp(`(${start}\\[[\\d;:]*m)`);

/** Draws one line of a screen. The style goes on in the next line. */
function line(text, style) {
  let now = style;
  let x = 0;
  let drawn = "";
  for (const part of text.split(sequence)) {
    if (part.startsWith(start)) {
      now = styled(now, part.slice(2, -1).split(/[;:]/).map(Number));
      continue;
    }
    const length = [...part].length;
    const [color, back] = now.reverse ? [now.back || "#0e1210", now.color || "#e9efeb"] : [now.color, now.back];
    if (back && length > 0) {
      drawn += `<rect x="${number(x * cell.width)}" width="${number(length * cell.width)}" height="${cell.height}" fill="${back}"/>`;
    }
    if (part.trim()) {
      const looks = `${color ? ` fill="${color}"` : ""}${now.bold ? ' font-weight="700"' : ""}${now.dim ? ' opacity=".65"' : ""}`;
      drawn += `<text x="${number(x * cell.width)}" y="13.5" textLength="${number(length * cell.width)}"${looks} xml:space="preserve">${escaped(part)}</text>`;
    }
    x += length;
  }
  return [drawn, now];
}

function draw() {
  const known = new Map();
  const total = frames.reduce((sum, { time }) => sum + time, 0);
  let begin = 0;
  let rules = "";
  let groups = "";
  for (const [i, { screen, at, time }] of frames.entries()) {
    let style = plain;
    let used = "";
    for (const [y, text] of screen.split("\n").slice(0, rows).entries()) {
      const [drawn, next] = line(text, style);
      style = next;
      if (drawn) {
        known.set(drawn, known.get(drawn) ?? `r${known.size}`);
        used += `<use href="#${known.get(drawn)}" y="${y * cell.height}"/>`;
      }
    }
    if (at) {
      const [x, y] = at.split(",").map(Number);
      used += `<rect class="c" x="${number(x * cell.width)}" y="${y * cell.height}" width="${cell.width}" height="${cell.height}"/>`;
    }
    const share = (t) => number((t / total) * 1000) / 10;
    const end = begin + time;
    const last = i === frames.length - 1;
    rules += `@keyframes k${i}{${begin > 0 ? `0%{visibility:hidden}` : ""}${share(begin)}%{visibility:visible}${last ? "" : `${share(end)}%{visibility:hidden}`}}#f${i}{animation-name:k${i}}`;
    groups += `<g id="f${i}"${last ? ' class="last"' : ""}>${used}</g>\n`;
    begin = end;
  }
  const width = columns * cell.width + 32;
  const height = rows * cell.height + 32;
  const defs = [...known].map(([drawn, id]) => `<g id="${id}">${drawn}</g>`).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${number(width)} ${height}" width="${number(width)}" height="${height}" role="img" aria-label="The terminal client: a prompt, an approval, the result">
<style>text{font:14px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}.c{fill:#5fd3a6;opacity:.6}.s>g{visibility:hidden;animation:${total}ms step-end infinite}${rules}
@media (prefers-reduced-motion:reduce){.s>g{animation:none}.s>.last{visibility:visible}}</style>
<defs>
${defs}
</defs>
<rect width="100%" height="100%" rx="10" fill="#0e1210"/>
<g class="s" fill="#e9efeb" transform="translate(16 16)">
${groups}</g>
</svg>
`;
}

try {
  await play();
} finally {
  try {
    execFileSync("scorel", ["host", "stop"], { env, stdio: "ignore" });
    tmux("kill-server");
  } finally {
    rmSync(top, { recursive: true, force: true });
  }
}
const svg = draw();
writeFileSync(join(root, "docs/pictures/terminal.svg"), svg);
console.log(`docs/pictures/terminal.svg: ${frames.length} screens, ${(svg.length / 1000).toFixed(0)} kB`);
