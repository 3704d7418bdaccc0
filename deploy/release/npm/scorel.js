#!/usr/bin/env node
// Starts the program that npm installed for this platform, as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");

const name = `@scorel/cli-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "scorel.exe" : "scorel";
let program;
try {
	program = require.resolve(`${name}/bin/${file}`);
} catch {
	console.error(
		`scorel: the package ${name} is not installed: there is no program for this platform, or npm was run with --omit=optional`,
	);
	process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both. Others come to this process alone.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => {}); // the program decides
child.on("error", (error) => {
	console.error(`scorel: ${program} cannot be started: ${error.message}`);
	process.exit(1);
});
child.on("exit", (code, signal) => {
	if (signal === null) process.exit(code);
	for (const handled of ["SIGTERM", "SIGHUP", "SIGINT"]) process.removeAllListeners(handled);
	process.kill(process.pid, signal);
});
