import { createRoot } from "react-dom/client";
import { createScorel } from "../api/scorel";
import { takeFragment } from "../features/pair/fragment";
import { App } from "./App";
import { createAppRouter } from "./router";
import "./styles.css";

// The secret of a pairing link leaves the address before anything else runs.
const linkCode = { current: takeFragment(window) };

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(<App scorel={createScorel()} router={createAppRouter(linkCode)} />);
